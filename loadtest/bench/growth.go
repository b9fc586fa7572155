package main

import (
	"fmt"
	"path/filepath"
)

// growth compares exchanges with large catalogs with one that has a small one.
func (b *bench) growth() ([]row, error) {
	small, err := b.startHalted("small", catalogOf(10))
	if err != nil {
		return nil, err
	}
	defer small.end()
	few := catalogOf(10)
	var rows []row
	many, err := b.startHalted("campaigns", catalogOf(b.size.campaigns))
	if err != nil {
		return nil, err
	}
	rows, err = b.grown(rows, pair{ours: many, theirs: small}, fmt.Sprintf("%d campaigns instead of 10", b.size.campaigns), 0)
	many.end()
	if err != nil {
		return nil, err
	}
	d := crowded(b.size.buyers)
	crowd, err := b.startHalted("buyers", d)
	if err != nil {
		return nil, err
	}
	defer crowd.end()
	for _, method := range []string{roundRobin, waterfall} {
		p := pair{ours: crowd.to(d.names(method)), theirs: small.to(few.names(method))}
		what := fmt.Sprintf("%d buyers in one campaign instead of 4, %s", b.size.buyers, method)
		if rows, err = b.grown(rows, p, what, b.size.buyers-4); err != nil {
			return nil, err
		}
	}
	listed := catalogOf(10)
	if err := b.suppressed(listed); err != nil {
		return nil, err
	}
	suppressing, err := b.startHalted("suppression", listed)
	if err != nil {
		return nil, err
	}
	defer suppressing.end()
	return b.grown(rows, pair{ours: suppressing, theirs: small}, fmt.Sprintf("%d suppressed numbers instead of none", b.size.suppressed), 0)
}

func (b *bench) startHalted(name string, d *document) (*seller, error) {
	s, err := b.startExchange(name, d)
	if err != nil {
		return nil, err
	}
	if err := halt(s.cmd.Process); err != nil {
		s.end()
		return nil, err
	}
	return s, nil
}

func (b *bench) suppressed(d *document) error {
	path := filepath.Join(b.dir, "dnc.txt")
	d.suppress(path)
	return writeList(path, b.size.suppressed)
}

// grown measures a pair. more is how many buyers ours has more, where the cost
// of one is asked for.
func (b *bench) grown(rows []row, p pair, what string, more int) ([]row, error) {
	ours, theirs, err := b.turns(p, b.size.growthConnections)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", what, err)
	}
	half := func(r *clientResult) float64 { return float64(r.P50) / 1e6 }
	spent := func(r *clientResult) float64 { return 1e9 * r.perLead() }
	a, z := pick(ours, half), pick(theirs, half)
	ratio := a.over(z)
	rows = append(rows, row{
		what:     what + ": p50",
		measured: fmt.Sprintf("%.2f times (%.2f and %.2f ms)", ratio.median(), a.median(), z.median()),
		spread:   ratio.spread("%.2f"), goal: "at most 1.2 times", verdict: atMost(ratio.median(), 1.2, 1.2),
	})
	if more > 0 {
		each := make(series, len(ours))
		for i := range ours {
			each[i] = (spent(&ours[i]) - spent(&theirs[i])) / float64(more)
		}
		rows = append(rows, row{
			what:     what + ": processor time of a lead for each buyer more",
			measured: fmt.Sprintf("%.1f ns", each.median()), spread: each.spread("%.1f"),
		})
	}
	return rows, nil
}
