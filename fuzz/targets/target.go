package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
)

// target is one fuzz target and its result.
type target struct {
	pkg, dir, name string // dir is the package's directory, name the function's name

	executions, interesting, result string
	failed                          bool
	output                          string // end of the output, if it failed
}

// String returns the target's name for --only: the package without the module, and the
// function.
func (t *target) String() string {
	_, pkg, _ := strings.Cut(t.pkg, "/")
	return pkg + "." + t.name
}

var fuzzFunc = regexp.MustCompile(`(?m)^func (Fuzz\w*)\(\w+ \*testing\.F\)`)

// findTargets lists the fuzz targets that the test files of the module at root declare, in the
// order of packages and files.
func findTargets(ctx context.Context, root string, only *regexp.Regexp) (targets []target, err error) {
	list := exec.CommandContext(ctx, "go", "list", "-f",
		`{{$p := .}}{{range .TestGoFiles}}{{$p.ImportPath}} {{$p.Dir}} {{.}}{{"\n"}}{{end}}{{range .XTestGoFiles}}{{$p.ImportPath}} {{$p.Dir}} {{.}}{{"\n"}}{{end}}`, "./...")
	list.Dir = root
	files, err := list.Output()
	if err != nil {
		return nil, fmt.Errorf("cannot list the packages: %w", err)
	}
	for line := range strings.Lines(string(files)) {
		parts := strings.Fields(line)
		if len(parts) != len([...]string{"package", "folder", "file"}) {
			continue
		}
		text, err := os.ReadFile(filepath.Join(parts[1], parts[2]))
		if err != nil {
			return nil, err
		}
		for _, match := range fuzzFunc.FindAllSubmatch(text, -1) {
			t := target{pkg: parts[0], dir: parts[1], name: string(match[1])}
			if only.MatchString(t.String()) {
				targets = append(targets, t)
			}
		}
	}
	return targets, nil
}

// buildBinary builds the package's test binary for fuzzing. For later targets of the package,
// the go command only checks that it is current.
func (o *options) buildBinary(ctx context.Context, t *target) (string, error) {
	path := filepath.Join(o.Out, strings.ReplaceAll(t.pkg, "/", ".")+".test")
	build := exec.CommandContext(ctx, "go", "test", "-c", "-fuzz", ".", "-o", path, t.pkg)
	build.Dir = t.dir
	if said, err := build.CombinedOutput(); err != nil {
		return "", errors.New(string(said))
	}
	return path, nil
}

// runTarget runs one target. It limits each minimization by executions: with the library's
// limit of one minute, one interesting input of a slow target would take the whole time.
func (o *options) runTarget(ctx context.Context, t *target) {
	binary, err := o.buildBinary(ctx, t)
	if err != nil {
		t.failed, t.result, t.output = true, "does not build", err.Error()
		return
	}
	ctx, cancel := context.WithTimeout(ctx, 2*o.Time+graceTime)
	defer cancel()
	run := exec.CommandContext(ctx, binary,
		"-test.run=^$", "-test.fuzz=^"+t.name+"$", "-test.fuzztime="+o.fuzzTime(), "-test.fuzzminimizetime=1000x",
		fmt.Sprintf("-test.parallel=%d", o.Parallel), "-test.fuzzcachedir="+filepath.Join(o.Out, "corpus", t.pkg))
	run.Dir = t.dir
	run.Cancel = func() error { return run.Process.Signal(os.Interrupt) }
	run.WaitDelay = graceTime
	said, err := run.CombinedOutput()
	t.setResult(string(said), err, ctx.Err())
}
