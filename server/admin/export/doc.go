// Package export writes lists of the admin API as files: CSV, NDJSON and Parquet, with the columns
// that the caller picks. It encodes one row after the other, so a file of any size needs the memory
// of one page.
package export
