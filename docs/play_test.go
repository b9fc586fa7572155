//go:build unix

package docs_test

import (
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// blockTimeout is the time limit of a block, for blocks that hang. No block needs a tenth of it.
const blockTimeout = 5 * time.Minute

// outcome is the result of a block.
type outcome struct {
	at      string
	output  string // of commands
	failure string // or ""
	skipped string // the reason if it was skipped
}

// runPage runs a page's blocks in a shell until one fails. missing has the missing languages
// with the reasons.
func runPage(p *page, s *shell, ports *ports, missing map[string]string) (outcomes []outcome) {
	var printed string // output of the last commands
	var skipped bool   // the last commands were skipped
	for i := range p.blocks {
		b := &p.blocks[i]
		text := ports.Replace(b.text)
		o := outcome{at: b.at}
		switch b.kind() {
		case file:
			if err := os.WriteFile(filepath.Join(s.dir, b.file), []byte(text), 0o600); err != nil {
				o.failure = err.Error()
			}
		case command:
			why, isMissing := missing[b.needs]
			if skipped = isMissing; isMissing {
				o.skipped = fmt.Sprintf("needs %s: %s", b.needs, why)
				break
			}
			var err error
			printed, err = s.run(text, blockTimeout)
			if o.output = printed; err != nil {
				o.failure = fmt.Sprintf("%v\n%s\nwhich printed\n%s%s", err, text, printed, s.logs())
			}
		case answer, output:
			if skipped {
				o.skipped = "the commands before were skipped"
				break
			}
			matches := matchText
			if b.kind() == answer {
				matches = matchJSON
			}
			if err := matches(text, printed); err != nil {
				o.failure = fmt.Sprintf("%v\nexpected\n%s\nprinted\n%s%s", err, text, printed, s.logs())
			}
		case figure, runbook:
		case unknown:
			o.failure = "BUG: faults let a block through"
		}
		outcomes = append(outcomes, o)
		if o.failure != "" {
			break
		}
	}
	return outcomes
}
