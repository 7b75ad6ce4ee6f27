"""Ledger of a party: the releases that it has charged to its data, and the limit that they keep.

The ledger is an append-only list of entries, linked by digests. It answers one question: may this release be made? It
is written before the release, so that a crash can only make it count too much.

An entry has one of four states. `refers` says which charge an outcome belongs to.

    limit      the first entry and no other: the epsilon and delta that no account may pass; never changed
    reserved   a charge: written, and on disk, before anything of the release leaves the party
    released   outcome of a charge: the release exists; final
    refunded   outcome of a charge: a refund, because nothing was revealed; final

    limit -> reserved -> released | refunded, once for each charge; a charge without an outcome counts as released

Ledgers of earlier versions have refunds in the state `void`. They stay as they are, because digests hold the states.

A charge has a key, a digest of the session and of a label. The same key with the same release is the same charge,
however often a site asks after a crash. The same key with another release is refused. A refunded release is charged
anew, by a new entry.

An account is what has a budget (`history.Account`). Every release counts in the account of records, as what it
guarantees where one record is replaced. A release that protects all records of a party counts in the account of parties
as well. An account counts the releases about all data sets, because people appear in more than one of them.

Composition (`composition`) turns the charges of an account into one epsilon at the delta of the limit. Up to the first
Gaussian charge pure and approximate releases add in epsilon and delta. From there on Gaussian and pure releases add as
mu^2, within what is left. This holds also for figures that are chosen in view of earlier releases. Two things follow:
the order of charges counts, and a refund of an earlier charge after the first Gaussian one frees nothing.

A charge is refused where it would pass the limit of one of its accounts. All figures are exact: they are fractions, and
a float of a statement is read as the number that it is, rounded up. The list shows a changed, missing or exchanged
entry. It does not show a cut end, or a list that was written anew. Other sites do, as witnesses of its heads (`head`,
`witness`); else its owner notes the head elsewhere.
"""
