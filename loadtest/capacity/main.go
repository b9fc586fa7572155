package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/alecthomas/kong"
)

// flags are the command line.
type flags struct {
	Figures string `default:"BENCHMARKS.json" placeholder:"FILE" help:"What make bench has measured (${default})."`
	Readme  string `default:"README.md" placeholder:"FILE" help:"Whose section is written (${default})."`
	Print   bool   `help:"Print the section and write nothing."`
}

const (
	beginMark = "<!-- capacity: begin, written by make capacity -->\n"
	endMark   = "<!-- capacity: end -->\n"
)

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

func run(args []string, out, trouble io.Writer) int {
	var f flags
	parser, err := kong.New(&f, kong.Name("capacity"), kong.Writers(out, trouble),
		kong.Description("Says what one node carries, from the last benchmark."))
	if err == nil {
		_, err = parser.Parse(args)
	}
	if err == nil {
		err = f.run(out)
	}
	if err != nil {
		fmt.Fprintln(trouble, "capacity: "+err.Error())
		return 1
	}
	return 0
}

func (f *flags) run(out io.Writer) error {
	text, err := os.ReadFile(f.Figures)
	if err != nil {
		return fmt.Errorf("%w; run make bench first, in full", err)
	}
	written, err := sectionOf(text)
	if err != nil {
		return fmt.Errorf("%s: %w", f.Figures, err)
	}
	if f.Print {
		_, err := io.WriteString(out, written)
		return err
	}
	readme, err := os.ReadFile(f.Readme)
	if err != nil {
		return err
	}
	changed, err := replace(string(readme), written)
	if err != nil {
		return fmt.Errorf("%s: %w", f.Readme, err)
	}
	return os.WriteFile(f.Readme, []byte(changed), 0o644)
}

// replace puts the section between its marks.
func replace(readme, section string) (string, error) {
	before, rest, begins := strings.Cut(readme, beginMark)
	_, after, ends := strings.Cut(rest, endMark)
	if !begins || !ends {
		return "", errors.New("the marks of the section are missing: " + strings.TrimSpace(beginMark) + " and " + strings.TrimSpace(endMark))
	}
	return before + beginMark + "\n" + section + "\n" + endMark + after, nil
}

// What a request and its answer have in bytes, headers and all: as the load
// generator sends and the exchange answers them.
const (
	leadNet = 1100 // a lead's request
	postNet = 1200 // a post to a buyer, beside it
	pingNet = 900  // a seller's ping, and as much to each buyer
)

// sectionOf reads the figures of a benchmark.
func sectionOf(text []byte) (string, error) {
	var file struct {
		Machine []string           `json:"machine"`
		Values  map[string]float64 `json:"values"`
	}
	if err := json.Unmarshal(text, &file); err != nil {
		return "", err
	}
	var missing []string
	value := func(name string) float64 {
		v := file.Values[name]
		if v <= 0 {
			missing = append(missing, name)
		}
		return v
	}
	m := measured{committer: value("committer_leads"), memory: value("memory_bytes")}
	works := []work{
		{"leads recorded alone", value("ingest_us_64"), 1, value("ingest_log_bytes"), leadNet},
		{"leads posted to a buyer", value("posted_us"), 2, value("posted_log_bytes"), leadNet + postNet},
		{"auctions of 1 buyer", value("auction_us_1"), 1, value("auction_log_bytes_1"), 2 * pingNet},
		{"auctions of 8 buyers", value("auction_us_8"), 1, value("auction_log_bytes_8"), 9 * pingNet},
	}
	if len(missing) > 0 {
		return "", fmt.Errorf("the benchmark has no %s; run make bench in full", strings.Join(missing, ", "))
	}
	return section(file.Machine, works, &m, &common), nil
}
