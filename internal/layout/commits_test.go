package layout_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"
)

// maxSubject is the longest subject of a commit, in characters.
const maxSubject = 72

// subjectForm is "package: imperative summary", or several packages.
var subjectForm = regexp.MustCompile(`^[a-zA-Z0-9/._-]+(, [a-zA-Z0-9/._-]+)*: [a-z][^\n]*[^.\n]$`)

// wrongSubjects lists commits, one "hash subject" per line, with a subject that is too
// long or not of the form.
func wrongSubjects(log string) []string {
	var findings []string
	for line := range strings.Lines(log) {
		hash, subject, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		if n := utf8.RuneCountInString(subject); n > maxSubject {
			findings = append(findings, fmt.Sprintf("commit %s: the subject has %d characters, at most %d: %q", hash, n, maxSubject, subject))
		}
		if !subjectForm.MatchString(subject) {
			findings = append(findings, fmt.Sprintf("commit %s: the subject is not \"package: imperative summary\", without a full stop: %q", hash, subject))
		}
	}
	return findings
}

// listSubjects returns the commits after base, one "hash subject" per line. A shallow
// clone that does not reach back to base has only later commits, because the history is
// linear, so that all of its commits count. The second result says why there is no list:
// root is no git repository, git is missing, or base is of another history.
func listSubjects(t *testing.T, root, base string) (log, reason string) {
	git := func(args ...string) (string, bool) {
		command := exec.CommandContext(t.Context(), "git", append([]string{"-C", root}, args...)...)
		out, err := command.Output()
		return strings.TrimSpace(string(out)), err == nil
	}
	top, ok := git("rev-parse", "--show-toplevel")
	if !ok || !isSameFile(top, root) {
		return "", "no git repository here"
	}
	commits := base + "..HEAD"
	if _, ok := git("cat-file", "-e", base+"^{commit}"); !ok {
		if shallow, _ := git("rev-parse", "--is-shallow-repository"); shallow != "true" {
			return "", "the repository does not have the base commit " + base
		}
		commits = "HEAD"
	}
	log, ok = git("log", "--no-merges", "--format=%h %s", commits)
	if !ok {
		return "", "git log failed"
	}
	return log, ""
}

func isSameFile(a, b string) bool {
	first, err := os.Stat(a)
	if err != nil {
		return false
	}
	second, err := os.Stat(b)
	return err == nil && os.SameFile(first, second)
}

func TestLayoutCommits(t *testing.T) {
	log, reason := listSubjects(t, "../..", firstCommit)
	if reason != "" {
		t.Skip(reason)
	}
	reportFindings(t, wrongSubjects(log))
}

func TestWrongSubjects(t *testing.T) {
	for subject, finding := range map[string]string{
		"server: reject chunked answers that carry a length": "",
		"engine, server: repair the defects":                 "",
		"loadtest/bench: measure ingest with viewers":        "",
		"wal: " + strings.Repeat("a", 67):                    "",
		"wal: " + strings.Repeat("é", 68):                    "73 characters",
		"reject chunked answers":                             "not \"package",
		"Server: Reject chunked answers":                     "not \"package",
		"server: reject chunked answers.":                    "not \"package",
		"server:reject":                                      "not \"package",
		"":                                                   "not \"package",
	} {
		found := strings.Join(wrongSubjects("1a2b3c "+subject+"\n"), "\n")
		if finding == "" && found != "" || !strings.Contains(found, finding) {
			t.Errorf("%q: found %q, want %q", subject, found, finding)
		}
	}
}

// TestListSubjects reads a repository with three commits, a shallow clone of it, a folder
// inside it, and a folder without git.
func TestListSubjects(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("no git")
	}
	dir := t.TempDir()
	git := func(args ...string) string {
		command := exec.CommandContext(t.Context(), "git", append([]string{"-C", dir, "-c", "user.name=a", "-c", "user.email=a@example.com", "-c", "commit.gpgsign=false"}, args...)...)
		out, err := command.Output()
		if err != nil {
			t.Fatalf("git %v: %v", args, err)
		}
		return strings.TrimSpace(string(out))
	}
	origin, clone, archive := filepath.Join(dir, "origin"), filepath.Join(dir, "clone"), filepath.Join(dir, "archive")
	for _, folder := range []string{filepath.Join(origin, "inside"), archive} {
		if err := os.MkdirAll(folder, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	git("init", "-q", origin)
	for _, subject := range []string{"One", "two: b", "three: c"} {
		git("-C", origin, "commit", "-q", "--allow-empty", "-m", subject)
	}
	base := git("-C", origin, "rev-parse", "HEAD~2")
	git("clone", "-q", "--depth", "1", "file://"+origin, clone)

	for root, want := range map[string]string{origin: "three: c two: b", clone: "three: c"} {
		log, reason := listSubjects(t, root, base)
		var subjects []string
		for line := range strings.Lines(log) {
			_, subject, _ := strings.Cut(strings.TrimSpace(line), " ")
			subjects = append(subjects, subject)
		}
		if got := strings.Join(subjects, " "); got != want || reason != "" {
			t.Errorf("%s: subjects %q, reason %q; want %q", root, got, reason, want)
		}
	}
	for root, base := range map[string]string{archive: base, filepath.Join(origin, "inside"): base, origin: strings.Repeat("1", 40)} {
		if log, reason := listSubjects(t, root, base); reason == "" || log != "" {
			t.Errorf("%s, base %s: subjects %q, reason %q; want a reason", root, base, log, reason)
		}
	}
}
