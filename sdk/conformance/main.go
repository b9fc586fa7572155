package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/alecthomas/kong"
)

type options struct {
	SDK  []string `required:"true" name:"sdk" help:"The SDKs to test, by the names of their folders; all for each one with a driver."`
	Only string   `help:"Only cases with this text in their theme or name."`
	Root string   `default:"." type:"existingdir" help:"The root of the repository."`
	Keep bool     `help:"Keep the folder with the exchange's data, its log and the drivers' errors."`
}

func main() {
	var o options
	kong.Parse(&o, kong.Name("conformance"), kong.Description("Tests the SDKs with their shared cases against a real exchange."))
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	passed, err := o.run(ctx)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "conformance:", err)
	}
	if err != nil || !passed {
		os.Exit(1)
	}
}

// run tests each SDK in a new environment, so that no SDK sees the effects of another.
func (o *options) run(ctx context.Context) (passed bool, err error) {
	themes, err := readThemes(filepath.Join(o.Root, "sdk", "conformance", "cases"))
	if err != nil {
		return false, err
	}
	if themes = selectThemes(themes, o.Only); len(themes) == 0 {
		return false, fmt.Errorf("--only: no case has %q in its theme or name", o.Only)
	}
	sdks, err := o.sdks()
	if err != nil {
		return false, err
	}
	place, err := os.MkdirTemp("", "pingpost-conformance-")
	if err != nil {
		return false, err
	}
	if o.Keep {
		fmt.Println("all files are kept in", place)
	} else {
		defer func() { err = errors.Join(err, os.RemoveAll(place)) }()
	}
	program := filepath.Join(place, "pingpost")
	if err := buildExchange(ctx, o.Root, program); err != nil {
		return false, err
	}
	passed = true
	for _, sdk := range sdks {
		results, err := testSDK(ctx, o.Root, sdk, filepath.Join(place, sdk), program, themes)
		if ctx.Err() != nil {
			return false, err
		}
		if err != nil { // an SDK that cannot start must not stop the others
			results = append(results, caseResult{theme: "driver", name: "can be built, started and ended", wrong: []string{err.Error()}})
		}
		passed = report(os.Stdout, sdk, results) && passed
	}
	return passed, nil
}

// testSDK runs the cases against one SDK.
func testSDK(ctx context.Context, root, sdk, place, program string, themes []theme) ([]caseResult, error) {
	if err := os.MkdirAll(place, 0o700); err != nil {
		return nil, err
	}
	command, err := readDriver(filepath.Join(root, "sdk", sdk), place)
	if err != nil {
		return nil, err
	}
	if err := command.build(ctx); err != nil {
		return nil, err
	}
	w, err := newEnvironment(ctx, place, program)
	if err != nil {
		return nil, err
	}
	results, err := runCases(ctx, w, command.start, themes)
	return results, errors.Join(err, w.close())
}

func (o *options) sdks() ([]string, error) {
	if !slices.Contains(o.SDK, "all") {
		return o.SDK, nil
	}
	found, err := filepath.Glob(filepath.Join(o.Root, "sdk", "*", driverFile))
	if err != nil || len(found) == 0 {
		return nil, fmt.Errorf("no sdk/LANG/%s below %s", driverFile, o.Root)
	}
	var sdks []string
	for _, path := range found {
		sdks = append(sdks, filepath.Base(strings.TrimSuffix(path, string(filepath.Separator)+driverFile)))
	}
	return sdks, nil
}
