package mutant

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// writeModule writes a module whose program prints its version.
func writeModule(t *testing.T) (root string) {
	t.Helper()
	root = t.TempDir()
	for name, text := range map[string]string{
		"go.mod":  "module sample\n\ngo 1.26\n",
		"main.go": "package main\n\nimport \"fmt\"\n\nfunc main() { fmt.Print(word()) }\n",
		"word.go": "package main\n\nfunc word() string { return \"whole\" }\n",
	} {
		if err := os.WriteFile(filepath.Join(root, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

func TestBuildBreaksTheProgramAndLeavesTheTree(t *testing.T) {
	root, out := writeModule(t), filepath.Join(t.TempDir(), "program")
	for want, mutations := range map[string][]Mutation{
		"whole":  nil,
		"broken": {{Name: "another word", File: "word.go", Old: `"whole"`, New: `"broken"`}},
		"both":   {{File: "word.go", Old: `"whole"`, New: `"bo"`}, {File: "word.go", Old: `"bo"`, New: `"bo" + "th"`}},
	} {
		if err := Build(t.Context(), root, ".", out, []string{"-trimpath"}, mutations...); err != nil {
			t.Fatal(err)
		}
		if said, err := exec.CommandContext(t.Context(), out).Output(); err != nil || string(said) != want {
			t.Errorf("the program says %q, %v; want %q", said, err, want)
		}
	}
	if text, err := os.ReadFile(filepath.Join(root, "word.go")); err != nil || !strings.Contains(string(text), "whole") {
		t.Errorf("the tree was changed: %s, %v", text, err)
	}
}

func TestMutationWithoutEffectIsRejected(t *testing.T) {
	root := writeModule(t)
	good := Mutation{Name: "another word", File: "word.go", Old: "whole", New: "broken"}
	for name, mutations := range map[string][]Mutation{
		"missing text":            {{File: "word.go", Old: "half", New: "none"}},
		"text occurs twice":       {{File: "word.go", Old: "o", New: "a"}},
		"missing file":            {{File: "words.go", Old: "whole", New: "broken"}},
		"no change":               {{File: "word.go", Old: "whole", New: "whole"}},
		"the same mutation twice": {good, good},
	} {
		if _, err := WriteOverlay(root, t.TempDir(), mutations...); err == nil {
			t.Errorf("%s: the mutation was accepted", name)
		}
	}
	bad := Mutation{Name: "no program", File: "word.go", Old: `"whole"`, New: `whole`}
	if err := Build(t.Context(), root, ".", filepath.Join(t.TempDir(), "program"), nil, bad); err == nil || !strings.Contains(err.Error(), "undefined: whole") {
		t.Errorf("a mutation that does not compile: %v", err)
	}
}
