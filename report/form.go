package report

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"pingpost/engine/market"
)

// Form writes an answer's rows down, one after the other: rows are never gathered.
type Form interface {
	// ContentType is what it is by the names of HTTP.
	ContentType() string
	// Begin is what stands before the rows.
	Begin(dst []byte) []byte
	Row(dst []byte, row *Row) []byte
}

// NewCSV writes by RFC 4180, below a line of names. A text that a spreadsheet would take
// for a formula has an apostrophe before it.
func NewCSV(q *Question) Form {
	f := &csvForm{columns: columnsOf(q)}
	f.csv = csv.NewWriter(&f.text)
	f.csv.UseCRLF = true
	return f
}

// NewNDJSON writes an object a line. What there is none of is null.
func NewNDJSON(q *Question) Form { return &ndjsonForm{columnsOf(q)} }

// column is one of a report: its name, and its value in a row.
type column struct {
	name string
	text bool // else it is a number, or none where it is empty
	of   func(row *Row, dst []byte) []byte
}

// columnsOf are what a report is by, then what is counted, each rate behind what it is
// made of.
func columnsOf(q *Question) []column {
	var all []column
	for _, d := range q.By {
		name := d.String()
		if _, configured := d.kind(); configured {
			name += "_id"
		}
		all = append(all, column{name, true, func(row *Row, dst []byte) []byte {
			if d.isTime() {
				return row.Start.AppendFormat(dst, time.RFC3339)
			}
			return append(dst, row.Names[d]...)
		}})
	}
	all = append(all, column{"currency", true, func(row *Row, dst []byte) []byte { return append(dst, row.Currency...) }})
	for i, name := range measureNames {
		measure := column{name, false, func(row *Row, dst []byte) []byte { return strconv.AppendInt(dst, row.measures[i], 10) }}
		if isMoney(i) {
			measure.of = func(row *Row, dst []byte) []byte { return market.Money(row.measures[i]).AppendJSON(dst) }
		}
		all = append(append(all, measure), behind(i)...)
	}
	return append(all, column{"margin", false, func(row *Row, dst []byte) []byte { return row.Margin().AppendJSON(dst) }})
}

func isMoney(measure int) bool {
	switch measure {
	case sumRevenue, sumPayout, sumCredit, sumReversal:
		return true
	}
	return false
}

// behind are the columns that follow a measure's.
func behind(measure int) []column {
	switch measure {
	case countBids:
		return []column{rate("bid_rate", countBids, countPings)}
	case countWins:
		return []column{rate("win_rate", countWins, countBids)}
	case countTimeouts:
		return []column{
			quantile("ping_p50_ms", 500, func(row *Row) histogram { return row.pings }),
			quantile("ping_p99_ms", 990, func(row *Row) histogram { return row.pings }),
		}
	case countHung:
		return []column{
			quantile("post_p50_ms", 500, func(row *Row) histogram { return row.posts }),
			quantile("post_p99_ms", 990, func(row *Row) histogram { return row.posts }),
		}
	}
	return nil
}

// rate is a share with four decimals, cut off; of nothing there is none.
func rate(name string, part, whole int) column {
	return column{name, false, func(row *Row, dst []byte) []byte {
		if row.measures[whole] == 0 {
			return dst
		}
		return market.Money(row.measures[part] * 10_000 / row.measures[whole] * 100).AppendJSON(dst)
	}}
}

func quantile(name string, thousandths uint64, of func(*Row) histogram) column {
	return column{name, false, func(row *Row, dst []byte) []byte {
		took, ok := of(row).quantile(thousandths)
		if !ok {
			return dst
		}
		return market.Money(took.Microseconds() * 1000).AppendJSON(dst)
	}}
}

type csvForm struct {
	columns []column
	text    bytes.Buffer
	csv     *csv.Writer
	cells   []string
}

func (*csvForm) ContentType() string { return "text/csv; charset=utf-8" }

func (f *csvForm) Begin(dst []byte) []byte {
	f.cells = f.cells[:0]
	for i := range f.columns {
		f.cells = append(f.cells, f.columns[i].name)
	}
	return f.line(dst)
}

func (f *csvForm) Row(dst []byte, row *Row) []byte {
	f.cells = f.cells[:0]
	for i := range f.columns {
		text := string(f.columns[i].of(row, nil))
		if f.columns[i].text {
			text = plain(text)
		}
		f.cells = append(f.cells, text)
	}
	return f.line(dst)
}

// plain keeps a text from being a formula where a spreadsheet reads it.
func plain(text string) string {
	if text != "" && strings.IndexByte("=+-@\t\r\n", text[0]) >= 0 {
		return "'" + text
	}
	return text
}

// line writes to memory, which takes everything.
func (f *csvForm) line(dst []byte) []byte {
	f.text.Reset()
	_ = f.csv.Write(f.cells)
	f.csv.Flush()
	return append(dst, f.text.Bytes()...)
}

type ndjsonForm struct{ columns []column }

func (*ndjsonForm) ContentType() string { return "application/x-ndjson" }

func (*ndjsonForm) Begin(dst []byte) []byte { return dst }

func (f *ndjsonForm) Row(dst []byte, row *Row) []byte {
	for i := range f.columns {
		begin := byte(',')
		if i == 0 {
			begin = '{'
		}
		dst = append(append(append(dst, begin, '"'), f.columns[i].name...), '"', ':')
		value := f.columns[i].of(row, nil)
		switch {
		case f.columns[i].text:
			quoted, _ := json.Marshal(string(value)) // any string can be
			dst = append(dst, quoted...)
		case len(value) == 0:
			dst = append(dst, "null"...)
		default:
			dst = append(dst, value...)
		}
	}
	return append(dst, '}', '\n')
}
