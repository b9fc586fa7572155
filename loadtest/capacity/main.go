// Command capacity computes the load that one node carries from the last full
// `make bench` (BENCHMARKS.json), and writes the section of docs/benchmarks.md between its marks.
// `make capacity` runs it.
//
// The exchange has handlers, which use all cores, and one committer, which does not
// scale with cores. A node of n cores carries the least of these:
//
//   - processors: n cores over the processor time of a lead, the committer's included;
//   - committer: the entries that it writes, fsyncs and applies alone;
//   - disk: bytes written a second over twice a lead's bytes in the log, because
//     snapshots write them again;
//   - network: bandwidth over the bytes of a lead's requests and answers.
//
// Memory limits the leads held, not their rate: a lead stays in memory as long as its
// idempotency key and its duplicate window.
//
// The benchmark measures a lead's time on one core of its machine. The model assumes
// the same time on each of n cores. The constants below are assumptions too.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"strings"

	"github.com/alecthomas/kong"
)

type flags struct {
	Figures string `default:"BENCHMARKS.json" placeholder:"FILE" help:"Figures that make bench wrote (${default})."`
	Readme  string `default:"docs/benchmarks.md" placeholder:"FILE" help:"Document whose section is replaced (${default})."`
	Print   bool   `help:"Print the section instead of writing it."`
}

const (
	beginMark = "<!-- capacity: begin, written by make capacity -->\n"
	endMark   = "<!-- capacity: end -->\n"
)

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

func run(args []string, out, trouble io.Writer) int {
	var f flags
	parser, err := kong.New(&f, kong.Name("capacity"), kong.Writers(out, trouble),
		kong.Description("Computes the load that one node carries from the last benchmark."))
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
		return fmt.Errorf("%w; run make bench first, without --quick and --only", err)
	}
	section, err := computeSection(text)
	if err != nil {
		return fmt.Errorf("%s: %w", f.Figures, err)
	}
	if f.Print {
		_, err := io.WriteString(out, section)
		return err
	}
	readme, err := os.ReadFile(f.Readme)
	if err != nil {
		return err
	}
	before, rest, begins := strings.Cut(string(readme), beginMark)
	_, after, ends := strings.Cut(rest, endMark)
	if !begins || !ends {
		return errors.New(f.Readme + ": the section's marks are missing: " + strings.TrimSpace(beginMark) + " and " + strings.TrimSpace(endMark))
	}
	return os.WriteFile(f.Readme, []byte(before+beginMark+"\n"+section+"\n"+endMark+after), 0o644)
}

// Assumptions that the benchmark does not measure.
const (
	use         = 0.8   // share of each resource that is planned with
	diskBytes   = 200e6 // written a second
	rewritten   = 2     // times that a byte of the log is written, snapshots included
	netBits     = 10e9  // a second, each way
	coreMemory  = 4e9   // bytes of memory for each core
	memoryDays  = 30    // that a lead stays in memory
	logDays     = 45    // that the log stays on disk
	coreHour    = 0.04  // USD for a core
	gigaMonth   = 0.10  // USD for a gigabyte of disk
	leadNet     = 1100  // bytes of a lead's request, headers included
	postNet     = 1200  // bytes of a post to a buyer
	pingNet     = 900   // bytes of a seller's ping, and of each buyer's
	secondsADay = 24 * 3600
)

// work is one kind of lead with its measured costs.
type work struct {
	name                 string
	micros               float64 // processor time
	entries              float64 // log entries that the committer writes
	logBytes, netBytes   float64
	committerRate, bytes float64 // of the machine: entries a second; memory of a lead
}

// rate returns the leads a second that a node carries, and the resource that limits them.
func (w *work) rate(cores float64) (perSecond float64, limit string) {
	perSecond = math.Inf(1)
	for _, resource := range []struct {
		name      string
		perSecond float64
	}{
		{"the processors", cores * 1e6 / w.micros},
		{"the committer", w.committerRate / w.entries},
		{"the disk", diskBytes / (rewritten * w.logBytes)},
		{"the network", netBits / 8 / w.netBytes},
	} {
		if use*resource.perSecond < perSecond {
			perSecond, limit = use*resource.perSecond, resource.name
		}
	}
	return perSecond, limit
}

// dollars returns the cost of a million leads.
func (w *work) dollars() float64 {
	return w.micros/use/3600*coreHour + w.logBytes*1e6/1e9*gigaMonth*logDays/30
}

// computeSection returns the section without its marks.
func computeSection(text []byte) (string, error) {
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
	committer, memory := value("committer_leads"), value("memory_bytes")
	works := []work{
		{"leads recorded alone", value("ingest_us_64"), 1, value("ingest_log_bytes"), leadNet, committer, memory},
		{"leads posted to a buyer", value("posted_us"), 2, value("posted_log_bytes"), leadNet + postNet, committer, memory},
		{"auctions of 1 buyer", value("auction_us_1"), 1, value("auction_log_bytes_1"), 2 * pingNet, committer, memory},
		{"auctions of 8 buyers", value("auction_us_8"), 1, value("auction_log_bytes_8"), 9 * pingNet, committer, memory},
	}
	if len(missing) > 0 {
		return "", fmt.Errorf("the benchmark has no %s; run make bench without --quick and --only", strings.Join(missing, ", "))
	}
	cores := []float64{2, 8, 32}
	var s strings.Builder
	fmt.Fprintf(&s, "Computed by `make capacity` from the last `make bench` (%s).\n\n", strings.Join(file.Machine[:min(1, len(file.Machine))], ""))
	s.WriteString("| a second, on one node of | 2 cores | 8 cores | 32 cores | limit at 32 cores |\n|---|---|---|---|---|\n")
	for i := range works {
		fmt.Fprintf(&s, "| %s |", works[i].name)
		limit := ""
		for _, n := range cores {
			var perSecond float64
			perSecond, limit = works[i].rate(n)
			fmt.Fprintf(&s, " %s |", rounded(perSecond))
		}
		fmt.Fprintf(&s, " %s |\n", limit)
	}
	s.WriteString("| leads held in memory |")
	for _, n := range cores {
		held := use * coreMemory * n / memory
		fmt.Fprintf(&s, " %s million, %s a second for %d days |", rounded(held/1e6), rounded(held/(memoryDays*secondsADay)), memoryDays)
	}
	s.WriteString(" |\n\n| a million | core seconds | log | memory | USD |\n|---|---|---|---|---|\n")
	for i := range works {
		w := &works[i]
		fmt.Fprintf(&s, "| %s | %.0f | %.2f GB | %.2f GB | %.3f |\n", w.name, w.micros, w.logBytes*1e6/1e9, memory*1e6/1e9, w.dollars())
	}
	fmt.Fprintf(&s, `
The benchmark measures the processor time and log bytes of each kind of lead, the
committer alone (%s entries a second) and the memory of a lead (%.0f bytes). The rest is
assumed; replace it with your own figures. Assumptions: a lead costs the same on each of
n cores; a disk writes %.0f MB a second, and the log's bytes %d times with the snapshots; a
network of %.0f Gbit; %.0f GB of memory for each core; %.2f USD for a core hour and %.2f USD
a month for a gigabyte of disk; the log is kept for %d days. The plan uses %.0f %% of each
resource. The committer limits one node: beyond it, run a second exchange with its own log
for other campaigns or other suppliers.
`, rounded(committer), memory, diskBytes/1e6, rewritten, netBits/1e9, coreMemory/1e9, coreHour, gigaMonth, logDays, 100*use)
	return s.String(), nil
}

// rounded returns two significant digits with grouped thousands. More digits would
// claim more than the model knows.
func rounded(x float64) string {
	if x < 10 {
		return fmt.Sprintf("%.1f", x)
	}
	unit := math.Pow(10, math.Floor(math.Log10(x))-1)
	digits := fmt.Sprintf("%.0f", math.Round(x/unit)*unit)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}
