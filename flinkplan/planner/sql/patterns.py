"""Parse MATCH_RECOGNIZE."""

from __future__ import annotations

from abc import abstractmethod

from . import ast
from .functions import FunctionParser
from .lexer import NUMBER

_NEXT_ROW = "TO NEXT ROW"
"""The default of AFTER MATCH SKIP: that of Calcite, which is not that of the standard."""


class PatternParser(FunctionParser):
    """MATCH_RECOGNIZE and its patterns."""

    @abstractmethod
    def alias_of_table(self) -> ast.TableAlias | None:
        """``[AS] name [(columns)]`` if it is there."""

    def match_recognize(self, table: ast.TableExpression, start: int) -> ast.MatchRecognize:
        """What follows a table, from the keyword on.  Source: Calcite's ``MatchRecognize``."""
        self.expect("MATCH_RECOGNIZE")
        opener = self.open()
        partition_by = self.list_of(self.expression) if self.accept_by("PARTITION") else ()
        order_by = self.order_by()
        measures = self.list_of(self._measure) if self.accept("MEASURES") else ()
        all_rows = self._all_rows()
        after = self._after_match()
        self.expect("PATTERN")
        pattern = self.enclosed(self._pattern)
        within = self.expression() if self.accept("WITHIN") else None
        subsets = self.list_of(self._subset) if self.accept("SUBSET") else ()
        self.expect("DEFINE")
        definitions = self.list_of(self._definition)
        self.close(opener)
        return ast.MatchRecognize(
            table,
            partition_by,
            order_by,
            measures,
            all_rows,
            after,
            pattern,
            within,
            subsets,
            definitions,
            self.alias_of_table(),
            span=self.span(start),
        )

    def _measure(self) -> ast.Measure:
        start = self.token.start
        expression = self.expression()
        self.expect("AS")
        return ast.Measure(expression, self.identifier("the name of the measure"), span=self.span(start))

    def _all_rows(self) -> bool:
        if not self.accept("ALL"):
            if self.accept("ONE"):
                self.expect("ROW", "PER", "MATCH")
            return False
        self.expect("ROWS", "PER", "MATCH")
        return True

    def _after_match(self) -> ast.AfterMatch:
        start = self.token.start
        if not self.accept("AFTER"):
            return ast.AfterMatch(_NEXT_ROW)
        self.expect("MATCH", "SKIP")
        if self.accept("PAST"):
            self.expect("LAST", "ROW")
            return ast.AfterMatch("PAST LAST ROW", span=self.span(start))
        self.expect("TO")
        if self.accept("NEXT"):
            self.expect("ROW")
            return ast.AfterMatch(_NEXT_ROW, span=self.span(start))
        place = self.one_of("FIRST", "LAST") if self.token.key in ("FIRST", "LAST") else "LAST"
        return ast.AfterMatch(f"TO {place}", self.identifier("a variable of the pattern"), span=self.span(start))

    def _subset(self) -> ast.PatternSubset:
        start = self.token.start
        name = self.identifier("the name of the subset")
        self.expect("=")
        return ast.PatternSubset(name, self.parenthesized(self._variable), span=self.span(start))

    def _definition(self) -> ast.PatternDefinition:
        start = self.token.start
        variable = self._variable()
        self.expect("AS")
        return ast.PatternDefinition(variable, self.expression(), span=self.span(start))

    def _variable(self) -> ast.Identifier:
        return self.identifier("a variable of the pattern")

    # Patterns

    def _pattern(self) -> ast.Pattern:
        start = self.token.start
        if self.token.key in ("^", "$"):
            self.unsupported(f"{self.token.key} in a pattern", self.token)
        left = self._sequence()
        while self.accept("|"):
            left = ast.PatternChoice(left, self._sequence(), span=self.span(start))
        return left

    def _sequence(self) -> ast.Pattern:
        start = self.token.start
        left = self._repeated()
        while self.token.key not in (")", "|", ",", "-"):
            left = ast.PatternSequence(left, self._repeated(), span=self.span(start))
        return left

    def _repeated(self) -> ast.Pattern:
        start = self.token.start
        operand = self._term()
        bounds = self._quantifier()
        if bounds is None:
            return operand
        return ast.PatternRepetition(operand, *bounds, self.accept("?"), span=self.span(start))

    def _term(self) -> ast.Pattern:
        start = self.token.start
        if self.token.key == "(":
            return self.enclosed(self._pattern)
        if self.token.key == "PERMUTE" and self.peek() == "(":
            self.advance()
            return ast.PatternPermutation(self.parenthesized(self._pattern), span=self.span(start))
        if self.accept("{", "-"):
            operand = self._pattern()
            self.expect("-", "}")
            return ast.PatternExclusion(operand, span=self.span(start))
        return ast.PatternVariable(self._variable(), span=self.span(start))

    def _quantifier(self) -> tuple[int, int] | None:
        """The bounds of a quantifier, -1 for a missing one; ``None`` where there is no quantifier."""
        for sign, bounds in (("*", (0, -1)), ("+", (1, -1)), ("?", (0, 1))):
            if self.accept(sign):
                return bounds
        if self.token.key != "{" or self.peek() == "-":
            return None
        self.advance()
        least = self._times()
        most = self._times() if self.accept(",") else least
        self.expect("}")
        return least, most

    def _times(self) -> int:
        if self.token.kind != NUMBER:
            return -1
        return self.integer()
