"""``flinkplan rule``."""

from __future__ import annotations

import click


@click.command(short_help="Explain a rule of diff or validate, or list them.")
@click.argument("rule_id", metavar="[RULE]", required=False)
def command(rule_id: str | None) -> None:
    """Explain RULE: what it means, why, an example, and how to fix it. Without RULE, list all rules."""
    from ..compat.rules import RULES
    from ..compat.validation import RULES as VALIDATION
    from ..plan.errors import FlinkplanError
    from ..plan.findings import nearest
    from ..plan.printable import aligned

    if rule_id is None:
        rows = [(r.id, r.flink.value, r.spark.value, r.results.value, r.summary) for r in RULES.values()]
        click.echo(aligned(("DIFF", "FLINK", "SPARK", "RESULTS", "WHAT"), rows))
        checks = [(r.id, r.severity.value, r.summary) for r in VALIDATION.values()]
        click.echo("\n" + aligned(("VALIDATE", "SEVERITY", "WHAT"), checks))
        return
    if change := RULES.get(rule_id):
        click.echo(f"# {change.id}: {change.summary}\n")
        click.echo(
            f"Flink's state: {change.flink} · checkpoint on Spark: {change.spark} · results change: {change.results}\n"
        )
        click.echo(change.explanation)
    elif check := VALIDATION.get(rule_id):
        click.echo(f"# {check.id}: {check.summary}\n\nSeverity: {check.severity.value}\n\n{check.explanation}")
    else:
        hint = nearest(rule_id, (*RULES, *VALIDATION)) or "'flinkplan rule' lists them"
        raise FlinkplanError(f"there is no rule '{rule_id}'", hint=hint)
