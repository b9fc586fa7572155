package rowfile

import (
	"bytes"
	"errors"
)

// partReader is a File, or a type that adds something to it.
type partReader interface {
	AppendPart(dst []byte, kind, shard int) ([]byte, error)
}

// ErrStopped is returned by Merge if the limit of the writer's rate was lifted, which means that the process stops.
var ErrStopped = errors.New("the merge of row files was stopped")

// Merge writes all parts of w with the rows of the given files. If several files have a key, the first file's
// row is written. keep decides which rows are written. The caller commits w. Errors: ErrStopped, ErrDamaged, or from
// the disk.
func Merge[F partReader](w *Writer, newestFirst []F, keep func(kind int, row []byte) bool) error {
	inputs := make([][]byte, len(newestFirst))
	var merged []byte
	for i := range w.shape.parts() {
		select {
		case <-w.opt.LiftLimit:
			return ErrStopped
		default:
		}
		kind, shard := i%len(w.shape.RowBytes), i/len(w.shape.RowBytes)
		for at, f := range newestFirst {
			var err error
			if inputs[at], err = f.AppendPart(inputs[at][:0], kind, shard); err != nil {
				return err
			}
		}
		merged = mergePart(merged[:0], append([][]byte(nil), inputs...), w.shape.RowBytes[kind], func(row []byte) bool { return keep(kind, row) })
		if err := w.WritePart(merged); err != nil {
			return err
		}
	}
	return nil
}

// mergePart appends the rows of sorted inputs to dst, in the order of their keys. Of rows with one key it takes
// that of the first input. It changes inputs.
func mergePart(dst []byte, inputs [][]byte, rowBytes int, keep func(row []byte) bool) []byte {
	for {
		first := -1
		for i, rows := range inputs {
			if len(rows) > 0 && (first < 0 || compareKeys(rows, inputs[first]) < 0) {
				first = i
			}
		}
		if first < 0 {
			return dst
		}
		row := inputs[first][:rowBytes]
		for i, rows := range inputs {
			if len(rows) > 0 && bytes.Equal(rows[:KeyBytes], row[:KeyBytes]) {
				inputs[i] = rows[rowBytes:]
			}
		}
		if keep(row) {
			dst = append(dst, row...)
		}
	}
}
