package witness

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// sealedWorld is the honest one, whose leads are in slots, and the last of whom was erased.
func sealedWorld() *forged {
	f := honest()
	f.decided("four", `"slot":4,"sale":`+toRec)
	f.terms.caps[2].count = 2
	f.told("four", "ACCEPTED", "rec", 4*unit, "")
	f.funds["rec"] = account{}
	for i, lead := range []string{"one", "two", "three"} {
		for n, line := range f.lines {
			if strings.Contains(line, `"lead_decided"`) && strings.Contains(line, `"lead":"`+lead+`"`) {
				f.lines[n] = strings.Replace(line, `"campaign":1`, fmt.Sprintf(`"campaign":1,"slot":%d`, i+1), 1)
			}
		}
	}
	f.erases(`"four"`, "4")
	f.forgotten = []string{"four"}
	return f
}

func (f *forged) erases(leads, slots string) {
	f.log("leads_erased", fmt.Sprintf(`"leads":[%s],"slots":[%s]`, leads, slots))
}

func TestAuditOfErasuresHonest(t *testing.T) {
	if found := sealedWorld().findings(); len(found) > 0 {
		t.Errorf("an honest world has findings: %q", found)
	}
}

func TestAuditOfErasuresSees(t *testing.T) {
	foundOut(t, sealedWorld, []lie{
		{"acknowledged, and not in the log", "that lead two was erased was acknowledged and is lost", func(f *forged) { f.forgotten = append(f.forgotten, "two") }},
		{"twice", "lead four is erased twice", func(f *forged) { f.erases(`"four"`, "4") }},
		{"another's slot", "lead two is erased in slot 3, and is in slot 2", func(f *forged) { f.erases(`"two"`, "3") }},
		{"nobody", "lead nobody is erased, and there is none", func(f *forged) { f.erases(`"nobody"`, "9") }},
		{"leads without slots", "2 leads are erased in 1 slots", func(f *forged) { f.erases(`"one","two"`, "1") }},
		{"on its way", "lead five is erased on its way to blue", func(f *forged) {
			f.decided("five", `"slot":5,"sale":`+toBlue+`,"post":"http://blue/v1/post"`)
			f.erases(`"five"`, "5")
		}},
	})
}

// TestAuditOfKeysSees: keys are held against the log, in both directions.
func TestAuditOfKeysSees(t *testing.T) {
	type keys map[int]bool // slots whose keys are there
	for what, c := range map[string]struct {
		there keys
		tell  func(f *forged)
		want  string
	}{
		"honest":              {there: keys{1: true, 2: true, 3: true}},
		"erased and kept":     {there: keys{1: true, 2: true, 3: true, 4: true}, want: "the key of lead four is gone: false"},
		"gone without a word": {there: keys{1: true, 3: true}, want: "the key of lead two is gone: true"},
		"no file":             {want: "the keys of leads cannot be read"},
		"one slot for two": {there: keys{1: true, 2: true, 3: true}, want: "are both sealed in slot 3", tell: func(f *forged) {
			f.decided("five", `"slot":3,"reason":"caps_full"`)
		}},
		"beyond the file": {there: keys{1: true, 2: true, 3: true}, want: "there is no key of lead five", tell: func(f *forged) {
			f.decided("five", `"slot":9,"reason":"caps_full"`)
		}},
	} {
		f, dir := sealedWorld(), t.TempDir()
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
		found := strings.Join(readBook(f.terms, strings.Join(f.lines, "\n")+"\n").keysAt(dir), "\n")
		if c.want == "" && found != "" || !strings.Contains(found, c.want) {
			t.Errorf("%s: found %q, want %q", what, found, c.want)
		}
	}
}
