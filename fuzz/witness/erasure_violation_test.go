package witness

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// erasedEvidence is honestEvidence with key slots; the last lead is erased.
func erasedEvidence() *forgedEvidence {
	f := honestEvidence()
	f.decided("four", `"slot":4,"sale":`+toRec)
	f.config.caps[2].count = 2
	f.addAnswer("four", "ACCEPTED", "rec", 4*unit, "")
	f.accounts["rec"] = buyerAccount{}
	for i, lead := range []string{"one", "two", "three"} {
		for n, line := range f.lines {
			if strings.Contains(line, `"lead_decided"`) && strings.Contains(line, `"lead":"`+lead+`"`) {
				f.lines[n] = strings.Replace(line, `"campaign":1`, fmt.Sprintf(`"campaign":1,"slot":%d`, i+1), 1)
			}
		}
	}
	f.erases(`"four"`, "4")
	f.acknowledged = []operatorAction{{"erasure of lead", "four"}}
	return f
}

func (f *forgedEvidence) erases(leads, slots string) {
	f.addEvent("leads_erased", fmt.Sprintf(`"leads":[%s],"slots":[%s]`, leads, slots))
}

func TestAuditDetectsFalseErasures(t *testing.T) {
	expectDetected(t, erasedEvidence, []forgery{
		{"acknowledged but not in the log", "erasure of lead two was acknowledged, but is not in the log", func(f *forgedEvidence) {
			f.acknowledged = append(f.acknowledged, operatorAction{"erasure of lead", "two"})
		}},
		{"twice", "lead four is erased twice", func(f *forgedEvidence) { f.erases(`"four"`, "4") }},
		{"another's slot", "lead two is erased with key slot 3, but has slot 2", func(f *forgedEvidence) { f.erases(`"two"`, "3") }},
		{"nobody", "lead nobody is erased, but does not exist", func(f *forgedEvidence) { f.erases(`"nobody"`, "9") }},
		{"leads without slots", "2 leads and 1 key slots", func(f *forgedEvidence) { f.erases(`"one","two"`, "1") }},
		{"erased during delivery", "lead five is erased during its delivery to blue", func(f *forgedEvidence) {
			f.decided("five", `"slot":5,"sale":`+toBlue+`,"post":"http://blue/v1/post"`)
			f.erases(`"five"`, "5")
		}},
	})
}

// Exactly the keys of erased leads must be missing.
func TestCheckKeysDetectsViolations(t *testing.T) {
	type keys map[int]bool // slots with a key
	for what, c := range map[string]struct {
		there keys
		tell  func(f *forgedEvidence)
		want  string
	}{
		"honest":              {there: keys{1: true, 2: true, 3: true}},
		"erased and kept":     {there: keys{1: true, 2: true, 3: true, 4: true}, want: "the key of lead four is deleted: false"},
		"gone without a word": {there: keys{1: true, 3: true}, want: "the key of lead two is deleted: true"},
		"no file":             {want: "cannot read the lead keys"},
		"one slot for two": {there: keys{1: true, 2: true, 3: true}, want: "share the key slot 3", tell: func(f *forgedEvidence) {
			f.decided("five", `"slot":3,"reason":"caps_full"`)
		}},
		"beyond the file": {there: keys{1: true, 2: true, 3: true}, want: "lead five has no key", tell: func(f *forgedEvidence) {
			f.decided("five", `"slot":9,"reason":"caps_full"`)
		}},
	} {
		f, dir := erasedEvidence(), t.TempDir()
		if c.tell != nil {
			c.tell(f)
		}
		if c.there != nil {
			file := make([]byte, 4*keySize)
			for slot := range c.there {
				file[(slot-1)*keySize] = 1
			}
			if err := os.MkdirAll(filepath.Join(dir, "keys", "leads"), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, "keys", "leads", fmt.Sprintf("%020d", 1)), file, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		found := strings.Join(readLogModel(f.config, strings.Join(f.lines, "\n")+"\n").checkLeadKeys(dir), "\n")
		if c.want == "" && found != "" || !strings.Contains(found, c.want) {
			t.Errorf("%s: found %q, want %q", what, found, c.want)
		}
	}
}
