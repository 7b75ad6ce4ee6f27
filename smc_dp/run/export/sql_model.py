"""Model as one SELECT statement of SQL that SQLite and DuckDB run: all columns of a table, and what is predicted."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from smc_dp.core.arrays import Array
from smc_dp.core.errors import InputError, shown
from smc_dp.data.columns import INDICATOR, BinnedColumn, CategoricalColumn, Column, DateColumn
from smc_dp.run.export import sql_terms as sql
from smc_dp.run.export.exported_model import ExportedModel, empty_features, new_prefix, number_of, texts_of

_MOST_CLASSES = 30  # each is compared with all others
_MOST_COLUMNS = 2000  # of a result of SQLite
_TABLE = "data"


def write_sql_model(model: ExportedModel) -> bytes:
    """Return the query; raise InputError for a model that SQL cannot carry."""
    _check(model)
    query = _Query(model)
    return "\n".join([*query.heading(), query.text(), ""]).encode()


def _check(model: ExportedModel) -> None:
    bounds = model.bounds
    for names in ([column.name for column in bounds.columns], bounds.classes):
        found: dict[str, str] = {}
        for name in names:
            if found.setdefault(name.casefold(), name) != name:
                raise InputError("export.same_in_sql", name=shown(name), other=shown(found[name.casefold()]))
    if len(bounds.classes) > _MOST_CLASSES:
        raise InputError("export.too_many_classes", most=_MOST_CLASSES, got=len(bounds.classes))
    # A column has up to three more beside it, and a class four; three are there once.
    most = (_MOST_COLUMNS - 4 * len(bounds.classes) - 3) // 4
    if len(bounds.columns) > most:
        raise InputError("export.too_many_columns", most=most, got=len(bounds.columns))


@dataclass(frozen=True)
class _ColumnTerms:
    """Terms of one column: what layers add, by name, and what the row then adds to its squared length and scores."""

    values: Mapping[str, str] = field(default_factory=dict)
    days: Mapping[str, str] = field(default_factory=dict)
    features: Mapping[str, str] = field(default_factory=dict)
    squared: str = "1e0"
    added: Sequence[str] = ()


@dataclass(frozen=True)
class _Query:
    model: ExportedModel

    @property
    def prefix(self) -> str:
        return new_prefix(self.model.bounds)

    def named(self, what: str) -> str:
        return sql.name(self.prefix + what)

    def heading(self) -> Iterator[str]:
        """Yield comments, which hold printable texts on one line alone."""
        bounds = self.model.bounds
        yield f"-- Model of the release {self.model.release}, for the table {_TABLE}: write the name of yours."
        predicted = (
            f"Number: {shown(bounds.label)}" if bounds.outcome else f"Classes: {', '.join(map(shown, bounds.classes))}"
        )
        yield f"-- {predicted}. A row with a cell that cannot be used has NULL."

    def text(self) -> str:
        terms = [self._terms(i, *part) for i, part in enumerate(self.model.parts)]
        scored = range(len(self.model.scored))
        layers = [_united(term.values for term in terms), _united(term.days for term in terms)]
        layers += [_united(term.features for term in terms)]
        sums = {f"total_{i}": sql.sum_of([term.added[i] for term in terms]) for i in scored}
        layers += [{self.prefix + "squared": sql.sum_of([term.squared for term in terms])}]
        layers[-1] |= {self.prefix + name: text for name, text in sums.items()}
        layers += [self._scores(), *self._probabilities()]
        # Materialised, because SQLite would otherwise write each layer out wherever the next one uses it, many times.
        source, steps = sql.name(_TABLE), []
        for i, layer in enumerate(layer for layer in layers if layer):
            listed = "".join(f",\n  {text} AS {sql.name(name)}" for name, text in layer.items())
            steps.append(f"SELECT {sql.ROWS}.*{listed}\nFROM {source} AS {sql.ROWS}")
            source = self.named(f"step_{i}")
        before = (f"{self.named(f'step_{i}')} AS MATERIALIZED (\n{step}\n)" for i, step in enumerate(steps[:-1]))
        return f"WITH {', '.join(before)}\n{steps[-1]}"

    def _terms(self, i: int, column: Column, weights: Array) -> _ColumnTerms:
        value, day, feature = (f"{self.prefix}{kind}_{i}" for kind in ("value", "day", "feature"))
        features = empty_features(column, center=self.model.bounds.center)
        if isinstance(column, CategoricalColumn):
            texts = texts_of(column)
            cases = "".join(
                f" WHEN {sql.is_text_of(column.name, [text for text, at in texts if at == place])} THEN {place}"
                for place in range(len(column.categories))
            )
            empty = "" if features is None else f" WHEN {sql.is_empty(column.name)} THEN {features.index(1.0)}"
            return _ColumnTerms(features={feature: f"CASE{empty}{cases} END"}, added=_by_place(feature, weights))
        if isinstance(column, BinnedColumn):
            place = sql.place_of(sql.cell(value), column.edges)
            if features is not None:
                place = f"CASE WHEN {sql.is_empty(column.name)} THEN {features.index(1.0)} ELSE {place} END"
            values = {value: sql.number_in(column.name)}
            return _ColumnTerms(values, features={feature: place}, added=_by_place(feature, weights))
        is_date = isinstance(column, DateColumn)
        number, days = number_of(column), {}
        values = {value: sql.date_in(column.name) if is_date else sql.number_in(column.name)}
        if isinstance(column, DateColumn):
            days, value = {day: sql.days_since(column.first, sql.cell(value))}, day
        offset, scale = number.scale(center=self.model.bounds.center)
        inside = sql.clip_number(sql.cell(value), number.low, number.high)
        text = f"({inside} - {sql.number(offset)}) / {sql.number(scale)}"
        if features is not None:
            text = f"CASE WHEN {sql.is_empty(column.name)} THEN {sql.number(features[0])} ELSE {text} END"
        made = sql.cell(feature)
        squared, added = f"{made} * {made}", [f"{sql.number(w)} * {made}" for w in weights[:, 0].tolist()]
        if column.missing == INDICATOR:
            mark = f"CASE WHEN {sql.is_empty(column.name)} THEN {{}} ELSE 0e0 END"
            squared = f"({squared} + {mark.format('1e0')})"
            each = zip(added, weights[:, 1].tolist(), strict=True)
            added = [f"({term} + {mark.format(sql.number(w))})" for term, w in each]
        return _ColumnTerms(values, days, {feature: text}, squared, added)

    def _scores(self) -> dict[str, str]:
        length = f"sqrt({sql.ROWS}.{self.named('squared')})"
        clip = sql.number(self.model.bounds.clip)
        shrink = f"CASE WHEN {length} > {clip} THEN {clip} / {length} ELSE 1e0 END"
        return {
            f"{self.prefix}score_{i}": f"{sql.number(constant)} + {sql.ROWS}.{self.named(f'total_{i}')} * {shrink}"
            for i, constant in enumerate(self.model.constants.tolist())
        }

    def _probabilities(self) -> Iterator[dict[str, str]]:
        classes = self.model.bounds.classes
        scores = [f"{sql.ROWS}.{self.named(f'score_{i}')}" for i in range(len(self.model.scored))]
        if self.model.bounds.outcome is not None:
            yield {f"{self.prefix}prediction": scores[0]}
            return
        chosen, probability = f"{self.prefix}class", f"{self.prefix}probability "
        if len(classes) == 2:
            (score,) = scores
            no, yes = map(sql.literal, classes)
            cut = sql.number(self.model.threshold.score)
            found = {chosen: f"CASE WHEN {score} > {cut} THEN {yes} WHEN {score} <= {cut} THEN {no} END"}
            logistic = "CASE WHEN {0} >= 0 THEN 1 / (1 + exp(-{0})) ELSE exp({0}) / (1 + exp({0})) END"
            if self.model.gives_probabilities:
                found |= {probability + classes[0]: logistic.format(f"(-{score})")}
                found |= {probability + classes[1]: logistic.format(score)}
            yield found
            return
        found = {chosen: _of_largest(scores, [sql.literal(name) for name in classes])}
        if not self.model.gives_probabilities:
            yield found
            return
        yield found | {f"{self.prefix}largest": _of_largest(scores, scores)}
        largest = f"{sql.ROWS}.{self.named('largest')}"
        yield {f"{self.prefix}power_{i}": f"exp({score} - {largest})" for i, score in enumerate(scores)}
        powers = [f"{sql.ROWS}.{self.named(f'power_{i}')}" for i in range(len(scores))]
        whole = sql.sum_of(powers)
        yield {probability + name: f"{power} / {whole}" for name, power in zip(classes, powers, strict=True)}


def _by_place(feature: str, weights: Array) -> list[str]:
    """Return what a row adds to each score by the place of its level or bin; NULL stays."""
    return [
        f"CASE {sql.cell(feature)}{''.join(f' WHEN {i} THEN {sql.number(w)}' for i, w in enumerate(row))} END"
        for row in weights.tolist()
    ]


def _of_largest(scores: Sequence[str], results: Sequence[str]) -> str:
    """Return the result of the largest score, the first of equals: it is at least as large as all that follow."""
    cases = []
    for i, (score, result) in enumerate(zip(scores, results, strict=True)):
        following = " AND ".join(f"{score} >= {other}" for other in scores[i + 1 :])
        cases.append(f"WHEN {following or f'{score} IS NOT NULL'} THEN {result}")
    return f"CASE {' '.join(cases)} END"


def _united(parts: Iterable[Mapping[str, str]]) -> dict[str, str]:
    return {name: text for part in parts for name, text in part.items()}
