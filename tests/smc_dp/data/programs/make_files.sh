#!/bin/sh
# Writes the files of R and LibreOffice that ../test_program_files.py reads. They were made once, by the versions that
# versions.txt has, of Debian 12. Neither program is needed to run the tests.
#   apt-get install --no-install-recommends r-base-core libreoffice-calc && pip install openpyxl && sh make_files.sh
set -e
cd "$(dirname "$0")"

Rscript - <<'R'
rows <- data.frame(
  age = c(41, 67, 58, 73, 35, 80),
  cost = c(1234.5, 987.25, 12345.75, 2000, 1500.5, NA),
  sex = c("f", "m", "m", "f", "f", "m"),
  smoker = c(TRUE, FALSE, NA, FALSE, TRUE, TRUE),
  admitted = as.Date(c("2020-01-31", "2020-02-01", "2020-12-24", "2021-03-15", "2021-04-30", "2020-07-09")),
  back = c("no", "yes", "no", "yes", "no", "yes"))
write.csv(rows, "r_write_csv.csv")
write.csv2(rows, "r_write_csv2.csv", row.names = FALSE)
write.csv2(rows, "r_write_csv2_names.csv", na = "")
write.table(rows, "r_write_table.tsv", sep = "\t", quote = FALSE, row.names = FALSE, na = "-")
write.table(transform(rows, admitted = format(admitted, "%d/%m/%Y")), "r_write_table_bars.csv", sep = "|",
            row.names = FALSE)
cat(R.version.string, "\n", file = "versions.txt")
R

python3 - <<'P'
import datetime

from openpyxl import Workbook

DAYS = ("2020-01-31", "2020-02-01", "2020-12-24", "2021-03-15", "2021-04-30", "2020-07-09")
FORMATS = {"book": ("#,##0.00", "yyyy/mm/dd"), "buch": ("[$-407]#,##0.00", "dd.mm.yyyy")}  # as shown, the second German
for name, (number, date) in FORMATS.items():
    book = Workbook()
    sheet = book.active
    sheet.append(["age", "cost", "sex", "smoker", "admitted", "back"])
    for age, cost, sex, smoker, day, back in zip(
        (41, 67, 58, 73, 35, 80), (1234.5, 987.25, 12345.75, 2000, 1500.5, None), "fmmffm",
        (True, False, None, False, True, True), DAYS, ("no", "yes") * 3,
    ):
        sheet.append([age, cost, sex, smoker, datetime.date.fromisoformat(day), back])
    for row in sheet.iter_rows(min_row=2):
        row[1].number_format, row[4].number_format = number, date
    for row in range(8, 11):  # rows that look empty, as formulas leave them
        sheet.cell(row, 1, '=IF(TRUE,"","")')
    book.save(f"{name}.xlsx")
P

# Text - txt - csv: separator, quote, character set, first line, columns, language, all texts in quotes, as shown
convert() {
  soffice --headless --convert-to "csv:Text - txt - csv (StarCalc):$2" --outdir out "$1.xlsx" >/dev/null
  mv "out/$1.csv" "$3"
}
convert book 44,34,76,1,,1033,false,true libreoffice_english.csv
convert buch 59,34,76,1,,1031,true,true libreoffice_german.csv
convert book 59,34,76,1,,1033,false,false libreoffice_semicolons.csv
soffice --version >> versions.txt
rm -r out book.xlsx buch.xlsx
