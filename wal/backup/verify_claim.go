package backup

import (
	"context"
	"fmt"
	"slices"
)

// checkFences holds the fences against the claims. The generations were listed before
// the fences: each claim has had a fence of its life before it.
func (r *Repository) checkFences(ctx context.Context, all []*generation, v *Verification) error {
	fences, err := r.box.fences(ctx)
	if err != nil {
		return err
	}
	var fenced, claimed uint32
	signed := false // by some claim
	for _, g := range all {
		claimed = max(claimed, g.claim.Epoch)
		signed = signed || g.claim.sum != ""
	}
	for _, f := range fences {
		fenced = max(fenced, f.Epoch)
		switch {
		case f.unknown != nil:
			v.Problems = append(v.Problems, f.unknown)
		case f.sum == "" && signed:
			v.Problems = append(v.Problems, fmt.Errorf("%s in %s (it has no sum, and claims have): %w", fenceName(f.Number), r.box.store, ErrChanged))
		case f.sum == "":
			v.Notes = append(v.Notes, fmt.Sprintf("%s: an earlier program wrote it, without a sum, so an edit cannot be found; the exchange's next start with --backup-to replaces it", fenceName(f.Number)))
		}
	}
	switch {
	case len(fences) == 0 && len(all) > 0:
		v.Problems = append(v.Problems, fmt.Errorf("%s: all fences were removed; claims alone keep superseded copies from going on, up to life %d. The exchange's next start with --backup-to raises one", fenceFolder, claimed))
	case fenced < claimed:
		v.Problems = append(v.Problems, fmt.Errorf("%s: fences were removed or changed: the highest is of life %d, and a generation was begun in life %d", fenceFolder, fenced, claimed))
	}
	return nil
}

// checkClaim holds a generation's claim against the generations before it and against
// the names of its objects; checkExtent holds it against the entries.
func (r *Repository) checkClaim(g *generation, before []*generation, c *Check, v *Verification) {
	claim := genName(g.number) + "/claim"
	if g.unknown != nil {
		c.problem(g.unknown)
		return
	}
	afterSigned := slices.ContainsFunc(before, func(b *generation) bool { return b.claim.sum != "" })
	switch {
	case g.claim.sum == "" && afterSigned:
		c.problem(fmt.Errorf("%s in %s (it has no sum, and claims before it have): %w", claim, r.box.store, ErrChanged))
	case g.claim.sum == "":
		v.Notes = append(v.Notes, fmt.Sprintf("%s: an earlier program wrote it, without a sum, so an edit may not be found; the exchange's next start with --backup-to begins a generation that has sums", claim))
	}
	for _, b := range before {
		if b.claim.Epoch > g.claim.Epoch {
			c.problem(fmt.Errorf("%s: it is of life %d, and generation %d before it is of life %d", claim, g.claim.Epoch, b.number, b.claim.Epoch))
			break
		}
	}
	if g.claim.Sealed != r.box.key.seals() {
		c.problem(fmt.Errorf("%s: it says encrypted: %t, and the key files in the place are encrypted: %t", claim, g.claim.Sealed, r.box.key.seals()))
	}
	if len(g.runs) > 0 && g.runs[0].first() < g.claim.First {
		c.problem(fmt.Errorf("%s: it begins with entry %d, and there are entries from %d on", claim, g.claim.First, g.runs[0].first()))
	}
}
