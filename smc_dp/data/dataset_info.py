"""Public facts about each data set: sizes, files, papers that use it, and notes for readers of results."""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType


@dataclass(frozen=True)
class DatasetInfo:
    """Sizes as published or, for an incomplete copy, of the copy; `test_rows` is 0 without a test set.

    `partial`: the files read here are not the whole data set. `files`: paths in the data folder, none for a data set
    that scikit-learn bundles. `paper`: the paper whose experiments use the data set, or empty.
    """

    rows: int
    test_rows: int
    columns: int
    classes: int
    what: str
    paper: str = ""
    files: tuple[str, ...] = ()
    partial: bool = False
    notes: tuple[str, ...] = ()


_PATHAK = "Pathak, Rane and Raj 2010"
_HAMM = "Hamm, Cao and Belkin 2016"
_FEATURE = "the feature method"
_COLLABORATIVE = "OFPA and OFAA"

DATASET_INFO = MappingProxyType(
    {
        "breast_cancer": DatasetInfo(569, 0, 30, 2, "Breast Cancer Wisconsin (Diagnostic)"),
        "a9a": DatasetInfo(
            32_561,
            16_281,
            123,
            2,
            "UCI Adult as 123 binary columns: income above 50,000 dollars",
            _PATHAK,
            ("a9a/a9a.gz", "a9a/a9a.t.gz"),
        ),
        "bank": DatasetInfo(
            45_211,
            0,
            16,
            2,
            "Bank Marketing: does a client subscribe a term deposit?",
            _COLLABORATIVE,
            ("bank/bank-full.csv.gz",),
            notes=(
                "The paper counts 17 columns: 16 features and the class.",
                "Always answering no is right for 88.3 % of the rows: look at the AUC too.",
            ),
        ),
        "credit_default": DatasetInfo(
            30_000,
            0,
            23,
            2,
            "Default of Credit Card Clients",
            _COLLABORATIVE,
            ("credit_default/default_of_credit_card_clients.csv.gz",),
            notes=(
                "The paper counts 24 columns: 23 features and the class.",
                "Always answering no is right for 77.9 % of the rows: look at the AUC too.",
            ),
        ),
        "covtype": DatasetInfo(
            8_566,
            0,
            54,
            2,
            "Covertype, spruce/fir against lodgepole pine",
            _FEATURE,
            ("covtype/covtype_random10k.csv.gz",),
            partial=True,
            notes=("8,566 rows, those of classes 1 and 2 in a random 10,000; the paper uses all 495,141.",),
        ),
        "kdd99": DatasetInfo(
            494_021,
            311_029,
            41,
            2,
            "KDD Cup 99 (10 % file, corrected test file): normal against attack",
            _HAMM,
            ("kdd99/kddcup.data_10_percent.gz", "kdd99/corrected.gz"),
            notes=(
                "Of the 494,021 training rows 145,586 are different: parties hold copies of each other's rows.",
                "The service icmp occurs only in the test file.",
            ),
        ),
        "mnist37": DatasetInfo(
            12_396,
            0,
            784,
            2,
            "MNIST, digit 3 against 7 in the training images",
            _FEATURE,
            tuple(
                f"mnist/{part}-{kind}-ubyte.gz" for part in ("train", "t10k") for kind in ("images-idx3", "labels-idx1")
            ),
            notes=("A projection is fitted on the 2,038 3s and 7s of the test images, which the paper does not use.",),
        ),
        "har": DatasetInfo(
            7_352,
            2_947,
            265,
            6,
            "UCI HAR, activities from a smartphone's sensors",
            _HAMM,
            ("har/har_timedomain265.npz",),
            partial=True,
            notes=("Only the 265 time-domain columns; the paper projects all 561.",),
        ),
        "digits": DatasetInfo(1_797, 0, 64, 10, "Optical recognition of handwritten digits"),
        "malicious_url": DatasetInfo(
            200_000,
            200_000,
            3_231_961,
            2,
            "Malicious URLs, days 0 to 9 against days 10 to 19",
            _HAMM,
            tuple(f"malicious_url/url_svmlight/Day{day}.svm" for day in range(20)),
            notes=(
                "No checksum of these files is known: only their form and their numbers of rows were checked.",
                "The projection is a truncated singular value decomposition of public rows, which is not centred.",
            ),
        ),
    }
)
"""Name -> facts, in the order in which they are listed."""
