"""The translators of exec nodes, one module a family; :mod:`..registry` finds them."""
