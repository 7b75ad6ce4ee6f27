"""Hold what every other room needs: errors, arrays, documents, and safe reading and writing of files."""
