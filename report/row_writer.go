package report

import (
	"context"
	"database/sql"
	"strings"
)

// tableRowWriter writes rows of one table, several per SQL statement, because most of the cost
// of a row is the call of SQLite. A statement has few rows, because the driver searches all
// parameters for each one.
type tableRowWriter struct {
	ctx        context.Context //nolint:containedctx // of one transaction
	f          *reportDatabase
	head, tail string
	columns    int
	args       []any
}

const maxParameters = 64

func (w *tableRowWriter) rowsPerStatement() int { return max(1, maxParameters/w.columns) }

// newRowWriter returns a writer of rows whose keys are new. If a key is stored nevertheless, the stored
// row stays. This is cheaper than to replace rows: a statement that replaces can fail in the middle, so
// SQLite first writes a copy of each page that it changes to a file.
func (f *reportDatabase) newRowWriter(ctx context.Context, table string, columns int) *tableRowWriter {
	return &tableRowWriter{ctx: ctx, f: f, head: "INSERT OR IGNORE INTO " + table, columns: columns}
}

// newRowReplacingWriter returns a writer that replaces a stored row with the same key.
func (f *reportDatabase) newRowReplacingWriter(ctx context.Context, table string, columns int) *tableRowWriter {
	return &tableRowWriter{ctx: ctx, f: f, head: "INSERT OR REPLACE INTO " + table, columns: columns}
}

// newSumAddingWriter returns a writer that adds a row's measures to those of a stored row
// with the same key.
func (f *reportDatabase) newSumAddingWriter(ctx context.Context, table string, key, measures []string) *tableRowWriter {
	sets := make([]string, 0, len(measures))
	for _, name := range measures {
		sets = append(sets, name+" = "+name+" + excluded."+name)
	}
	return f.newMergingWriter(ctx, table, key, measures, sets)
}

// newMergingWriter returns a writer that updates a stored row with the same key by the SQL
// assignments in assignments.
func (f *reportDatabase) newMergingWriter(ctx context.Context, table string, key, measures, assignments []string) *tableRowWriter {
	return &tableRowWriter{
		ctx: ctx, f: f, head: "INSERT INTO " + table, columns: len(key) + len(measures),
		tail: " ON CONFLICT (" + strings.Join(key, ", ") + ") DO UPDATE SET " + strings.Join(assignments, ", "),
	}
}

func (w *tableRowWriter) add(values ...any) error {
	if len(values) != w.columns {
		panic("BUG: wrong number of columns for " + w.head)
	}
	if w.args = append(w.args, values...); len(w.args) < w.rowsPerStatement()*w.columns {
		return nil
	}
	return w.writeRows(w.rowsPerStatement())
}

// writeBufferedRows writes the rows that do not fill a statement. It is called after the last
// row.
func (w *tableRowWriter) writeBufferedRows() error {
	if n := len(w.args) / w.columns; n > 0 {
		return w.writeRows(n)
	}
	return nil
}

func (w *tableRowWriter) writeRows(rowCount int) error {
	row := "(" + strings.Repeat("?,", w.columns-1) + "?)"
	text := w.head + " VALUES " + strings.Repeat(row+",", rowCount-1) + row + w.tail
	var err error
	if rowCount == w.rowsPerStatement() { // other sizes are too many different statements to prepare
		var prepared *sql.Stmt
		if prepared, err = w.f.prepareCached(w.ctx, text); err == nil { //nolint:sqlclosecheck // the file closes it
			_, err = prepared.ExecContext(w.ctx, w.args...)
		}
	} else {
		_, err = w.f.writer.ExecContext(w.ctx, text, w.args...)
	}
	clear(w.args)
	w.args = w.args[:0]
	w.f.throttle.sleepIfDue()
	return err
}
