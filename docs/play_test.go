//go:build unix

package docs_test

import (
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// patience is the time limit of a block, for blocks that hang. No block needs a tenth of it.
const patience = 5 * time.Minute

// outcome is the result of a block.
type outcome struct {
	at      string
	said    string // output of commands
	wrong   string // the fault, or ""
	skipped string // the reason if it was skipped
}

// runPage runs a page's blocks in a shell until one fails. missing has the missing languages
// with the reasons.
func runPage(p *page, s *shell, ports *ports, missing map[string]string) (outcomes []outcome) {
	var said string // output of the last commands
	var passed bool // the last commands were skipped
	for i := range p.blocks {
		b := &p.blocks[i]
		text := ports.Replace(b.text)
		o := outcome{at: b.at}
		switch b.kind() {
		case file:
			if err := os.WriteFile(filepath.Join(s.dir, b.file), []byte(text), 0o600); err != nil {
				o.wrong = err.Error()
			}
		case command:
			why, isMissing := missing[b.needs]
			if passed = isMissing; isMissing {
				o.skipped = fmt.Sprintf("needs %s: %s", b.needs, why)
				break
			}
			var err error
			said, err = s.run(text, patience)
			if o.said = said; err != nil {
				o.wrong = fmt.Sprintf("%v\n%s\nwhich printed\n%s%s", err, text, said, s.logs())
			}
		case answer, output:
			if passed {
				o.skipped = "the commands before were skipped"
				break
			}
			matches := matchText
			if b.kind() == answer {
				matches = matchJSON
			}
			if err := matches(text, said); err != nil {
				o.wrong = fmt.Sprintf("%v\nexpected\n%s\nprinted\n%s%s", err, text, said, s.logs())
			}
		case figure, runbook:
		case unknown:
			o.wrong = "BUG: faults let a block through"
		}
		outcomes = append(outcomes, o)
		if o.wrong != "" {
			break
		}
	}
	return outcomes
}
