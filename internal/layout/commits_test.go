package layout_test

import (
	"fmt"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"
)

// maxSubject is the longest subject of a commit, in characters.
const maxSubject = 72

// subjectForm is "package: imperative summary", or several packages.
var subjectForm = regexp.MustCompile(`^[a-zA-Z0-9/._-]+(, [a-zA-Z0-9/._-]+)*: [a-z][^\n]*[^.\n]$`)

// invalidSubjects lists commits, one "hash subject" per line, with a subject that is too
// long or not of the form.
func invalidSubjects(log string) []string {
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
	if up, ok := git("rev-parse", "--show-cdup"); !ok || up != "" {
		return "", "no git repository here"
	}
	commits := base + "..HEAD"
	if _, ok := git("cat-file", "-e", base+"^{commit}"); !ok {
		if shallow, _ := git("rev-parse", "--is-shallow-repository"); shallow != "true" {
			return "", "the repository does not have the base commit " + base
		}
		commits = "HEAD"
	}
	log, ok := git("log", "--no-merges", "--format=%h %s", commits)
	if !ok {
		return "", "git log failed"
	}
	return log, ""
}

func TestLayoutCommits(t *testing.T) {
	log, reason := listSubjects(t, "../..", firstCommit)
	if reason != "" {
		t.Skip(reason)
	}
	reportFindings(t, invalidSubjects(log))
}

func TestInvalidSubjects(t *testing.T) {
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
		found := strings.Join(invalidSubjects("1a2b3c "+subject+"\n"), "\n")
		if finding == "" && found != "" || !strings.Contains(found, finding) {
			t.Errorf("%q: found %q, want %q", subject, found, finding)
		}
	}
}
