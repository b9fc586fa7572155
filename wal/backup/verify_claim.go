package backup

import (
	"context"
	"fmt"
	"slices"
)

// checkFences compares the fences in the store with the generations' claims, and adds
// contradictions to v. The caller listed the generations first. A fence with a claim's life
// (log epoch) is created before the claim, so it must now exist.
func (r *Repository) checkFences(ctx context.Context, all []*backupGeneration, v *Verification) error {
	fences, err := r.box.readAllFences(ctx)
	if err != nil {
		return err
	}
	var fenced, claimed uint32
	signed := false // at least one claim has a sum
	for _, g := range all {
		claimed = max(claimed, g.claim.Epoch)
		signed = signed || g.claim.sum != ""
	}
	for _, f := range fences {
		fenced = max(fenced, f.Epoch)
		switch {
		case f.unreadable != nil:
			v.Problems = append(v.Problems, f.unreadable)
		case f.sum == "" && signed:
			v.Problems = append(v.Problems, fmt.Errorf("the fence %s in %s has no checksum, but the claims of generations have one: %w", fenceName(f.Number), r.box.store, ErrChanged))
		case f.sum == "":
			v.Notes = append(v.Notes, fmt.Sprintf("the fence %s has no checksum, because an earlier version wrote it, so a change cannot be detected; the exchange's next start with --backup-to replaces it", fenceName(f.Number)))
		}
	}
	switch {
	case len(fences) == 0 && len(all) > 0:
		v.Problems = append(v.Problems, fmt.Errorf("the backup's folder %s no longer has a fence, the object that stops old copies of the exchange. An old copy of the present life %d could continue this backup; copies of earlier lives are still stopped. Restart the exchange that should keep this backup, with --backup-to: its start writes a new fence", fenceFolder, claimed))
	case fenced < claimed:
		v.Problems = append(v.Problems, fmt.Errorf("fences in the backup's folder %s were removed or changed: the highest is of life %d, but a generation was begun in life %d", fenceFolder, fenced, claimed))
	}
	return nil
}

// checkClaim compares the claim of generation g with those of earlier generations,
// with the key, and with the names of its objects. checkLogObject compares it with the log
// entries.
func (r *Repository) checkClaim(g *backupGeneration, earlierGenerations []*backupGeneration, check *GenerationCheck, verification *Verification) {
	claim := generationFolder(g.number) + "/claim"
	if g.unreadable != nil {
		check.addProblem(g.unreadable)
		return
	}
	afterSigned := slices.ContainsFunc(earlierGenerations, func(b *backupGeneration) bool { return b.claim.sum != "" })
	switch {
	case g.claim.sum == "" && afterSigned:
		check.addProblem(fmt.Errorf("the backup %s: the claim %s, the first object of a backup generation, has no checksum, but the claims of earlier generations have one: %w", r.box.store, claim, ErrChanged))
	case g.claim.sum == "":
		verification.Notes = append(verification.Notes, fmt.Sprintf("the claim %s has no checksum, because an earlier version wrote it, so a change may not be detected; the exchange's next start with --backup-to begins a generation that has checksums", claim))
	}
	for _, b := range earlierGenerations {
		if b.claim.Epoch > g.claim.Epoch {
			check.addProblem(fmt.Errorf("the claim %s is of life %d, but the earlier generation %d is of life %d", claim, g.claim.Epoch, b.number, b.claim.Epoch))
			break
		}
	}
	if g.claim.Sealed != r.box.key.hasRecipients() {
		check.addProblem(fmt.Errorf("the claim %s says that its generation and the key files are encrypted: %t, but the key files are encrypted: %t", claim, g.claim.Sealed, r.box.key.hasRecipients()))
	}
	if len(g.runs) > 0 && g.runs[0].firstEntry() < g.claim.First {
		check.addProblem(fmt.Errorf("the claim %s says that the generation begins with entry %d, but the generation has entries from %d on", claim, g.claim.First, g.runs[0].firstEntry()))
	}
}
