"""The page of a plan, for ``explain`` and ``lineage``."""

from __future__ import annotations

from .inputs import PlanInput
from .options import read_pipeline_text


def plan_page_of(given: PlanInput, title: str, sql: str | None) -> str:
    """The plan as a page, beside it the pipeline: that of ``--sql``, else what was given where it is one."""
    from ..plan.files import is_program
    from ..planner.spec import is_spec
    from .pages.page import page
    from .pages.plan_page import plan_page
    from .pages.sql_places import places_in

    if sql is None and (not given.is_pipeline or is_program(given.source.name)):
        return page(plan_page(given.plan, title))
    text, name = (given.source.text, given.source.name) if sql is None else read_pipeline_text(sql)
    return page(plan_page(given.plan, title, text, places_in(given.plan, text, name), is_spec(name)))
