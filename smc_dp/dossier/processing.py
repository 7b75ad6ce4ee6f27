"""What was done, with which data, and what left whom: sentences about the processing.

Each function is given the facts that its parameters name, and says nothing where they do not call for it.
"""

from __future__ import annotations

from smc_dp.dossier.facts import ApprovedStudy, LetterCount, NoiseBy

_LISTED = 20  # names; of more the rest is counted
_MEAN = "the mean of the models that each party made of its own rows"


def taking_part(parties: tuple[str, ...], curator: bool) -> str:
    """Who took part."""
    more = " Charlie, who adds up what he cannot read, took part besides." if curator else " Nobody else took part."
    return f"{len(parties)} parties computed one result of all their rows: {listed(parties)}.{more}"


def set_up(study: ApprovedStudy | None, parties: tuple[str, ...]) -> str:
    """Whether sites ran it, as far as a record can tell."""
    if study is None:
        return (
            "No site approved of anything beforehand: this is the record of a simulation, in which one process held "
            f"the rows of all {len(parties)} parties, and whoever ran it could read all of them."
        )
    return (
        f'Everybody who took part had approved of the study "{study.title}" (SHA-256 {study.digest}) by a signature; '
        "that "
        "each then ran its own part on its own machine is for each of them to say."
    )


def purpose(study: ApprovedStudy | None) -> str | None:
    """What the study says it is for."""
    return f'The study states its purpose: "{study.purpose}".' if study else None


def records(columns: tuple[str, ...], label: str, classes: tuple[str, ...]) -> str:
    """What a record is."""
    return (
        f"A record is a row of {counted(len(columns), 'column')} ({listed(columns)}) and, in column {label}, one of "
        f"{len(classes)} classes: {listed(classes)}."
    )


def dropped_rows(left_out_for: tuple[str, ...]) -> str | None:
    """Which rows were not used."""
    if not left_out_for:
        return None
    return f"A row without a value in {listed(left_out_for)} was left out at its party."


def learned(method: str, protocol: str, sums: int, weights: int) -> str:
    """What was computed."""
    how = f"in {sums} sums, each asked for in view of those before" if sums > 1 else "in one sum"
    return (
        f"One linear model of {counted(weights, 'number')} was made of the rows by method {method}, through protocol "
        f"{protocol}, {how}."
    )


def published(classes: tuple[str, ...], weights: int, shares_published: bool) -> str:
    """What everybody may see."""
    shares = " each participant's share of the sum, which is random by itself," if shares_published else ""
    return (
        f"Published are the {counted(weights, 'number')} of the model that tells {listed(classes)} apart,{shares} the "
        "columns with their announced ranges, the names of those who took part, the guarantee, and a record of what "
        "was sent: who wrote to whom at which step, how long, under whose signature; of sealed letters nothing else."
    )


def public_rows_besides(public_rows: int | None) -> str | None:
    """Rows that nobody protects."""
    if public_rows is None:
        return None
    return (
        f"All parties had the same {counted(public_rows, 'row')} besides, which are public: they are published and not "
        "protected."
    )


def without_whom(vanished: tuple[str, ...], gone_before: tuple[str, ...]) -> tuple[str, ...]:
    """Who was waited for in vain."""
    later = f"Letters of {listed(vanished)} did not come, and the others went on without them."
    earlier = f"{listed(gone_before)} vanished before anything was charged, and took no part in this session."
    return tuple(text for text, who in ((earlier, gone_before), (later, vanished)) if who)


def leaving(protocol: str, letters: LetterCount) -> str:
    """What leaves a party."""
    return (
        f"By protocol {protocol} no row leaves a party. {letters.sealed:,} letters were sent, each sealed to its one "
        f"reader, and {letters.public:,} signed messages for everybody; their {letters.size:,} bytes are as many as "
        "the public parameters make them, whatever the rows are."
    )


def numbers_of_rows(noise_by: NoiseBy, rows_known: int | None, rows_released: bool, most_rows: int | None) -> str:
    """What shows of how many rows there are."""
    if noise_by == "the smallest party":
        return (
            "No party states how many rows it has; that of the smallest sets the noise, and the release shows it "
            "roughly."
        )
    if rows_known is not None:
        return (
            f"The number of all rows together was agreed on as {rows_known:,}: it is public and not protected; no "
            "party states its own."
        )
    if rows_released:
        return "The number of all rows together is released and not protected; no party states its own."
    return f"No number of rows is released; each party was announced to have at most {most_rows or 0:,}."


def least_data(weights: int, letters: LetterCount) -> str:
    """Whether less would do."""
    return (
        f"All rows together come out as {counted(weights, 'number')} with noise. To send the rows to one place would "
        f"show each of them there; here {letters.sealed:,} sealed letters take their place."
    )


def listed(names: tuple[str, ...]) -> str:
    """All of a few, of many the first and how many more."""
    more = f", and {len(names) - _LISTED:,} more" if len(names) > _LISTED else ""
    return ", ".join(names[:_LISTED]) + more


def counted(number: int, what: str) -> str:
    """Such as `1 row` and `2 rows`."""
    return f"{number:,} {what}" if number == 1 else f"{number:,} {what}s"
