"""What every room uses: errors, arrays, documents, and files that are read with care and written complete or not at all."""
