"""Lineage as events of OpenLineage (https://openlineage.io), which catalogs of data understand."""
