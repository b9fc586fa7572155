//go:build unix

package docs_test

import (
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// patience is how long a block may take. No block takes a tenth of it: it ends what
// would hang.
const patience = 5 * time.Minute

// outcome is what became of a block that was played.
type outcome struct {
	at      string
	said    string // what commands printed
	wrong   string // empty: nothing
	skipped string // why, where it was
}

// play plays a page's blocks in a shell, up to the first that goes wrong. Lacking
// says which languages are not there, and why.
func play(p *page, s *shell, ports *ports, lacking map[string]string) (outcomes []outcome) {
	var said string // by the last commands
	var passed bool // over the last commands
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
			why, missing := lacking[b.needs]
			if passed = missing; missing {
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
				o.skipped = "the commands before were"
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
