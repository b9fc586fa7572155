package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/goccy/go-yaml"
)

// theme is a file of cases.
type theme struct {
	Theme  string     `json:"theme"`
	Why    string     `json:"why"`    // the promise of the SDKs that the cases check
	Shared any        `json:"shared"` // anchors for YAML aliases in the cases
	Cases  []testCase `json:"cases"`
}

// testCase is one case. Its steps run until the first one with an unexpected result.
type testCase struct {
	Name    string           `json:"name"`
	Needs   string           `json:"needs"`   // a method or a feature; drivers without it skip the case
	Flavors bool             `json:"flavors"` // run once for each flavor of a buyer's endpoint, as ${flavor}
	Each    []map[string]any `json:"each"`    // run once for each of these sets of variables
	Steps   []map[string]any `json:"steps"`   // raw form; see step
}

// step is a step of a case with its variables replaced. Exactly one kind is set.
type step struct {
	Do       map[string]any   `json:"do"`       // a request to the driver
	Together []map[string]any `json:"together"` // several do or raw steps at once
	Raw      *rawRequest      `json:"raw"`      // a request by a plain HTTP client
	Fault    []*fault         `json:"fault"`    // faults for the next requests
	Gate     *gateStep        `json:"gate"`     // the gate of one of the SDK's buyers
	Sent     *recordCheck     `json:"sent"`     // expectation of the requests at the proxy
	Passed   *recordCheck     `json:"passed"`   // expectation of the requests at a gate
	Hook     *hookStep        `json:"hook"`     // a webhook event that the exchange sends to the supplier
	Equal    [][2]any         `json:"equal"`    // pairs: the second value must contain the first
	Wait     float64          `json:"wait_seconds"`

	At     string            `json:"at"`     // the proxy (default live, or sandbox) or the gate
	Expect any               `json:"expect"` // the expected result; default: a result without an error
	Save   map[string]string `json:"save"`   // names for later steps, each with a path in the result
}

// gateStep sets a gate's target and its faults for the next requests.
type gateStep struct {
	To    string   `json:"to"`
	Fault []*fault `json:"fault"`
}

type hookStep struct {
	Type string `json:"type"`
	Lead string `json:"lead"`
}

// countKinds returns the number of kinds that the step sets.
func (s *step) countKinds() (n int) {
	for _, is := range []bool{
		s.Do != nil, s.Together != nil, s.Raw != nil, s.Fault != nil, s.Gate != nil,
		s.Sent != nil, s.Passed != nil, s.Hook != nil, s.Equal != nil, s.Wait > 0,
	} {
		if is {
			n++
		}
	}
	return n
}

func readStep(written map[string]any) (*step, error) {
	var s step
	if err := decodeStrict(encode(written), &s); err != nil {
		return nil, err
	}
	if n := s.countKinds(); n != 1 {
		return nil, fmt.Errorf("a step must have exactly one kind, this one has %d: %s", n, shortJSON(written))
	}
	faults := s.Fault
	if s.Gate != nil {
		faults = s.Gate.Fault
	}
	for _, f := range faults {
		if err := f.check(); err != nil {
			return nil, err
		}
	}
	return &s, nil
}

// decodeStrict decodes JSON, keeps all digits, and rejects unknown members.
func decodeStrict(text []byte, form any) error {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	decoder.DisallowUnknownFields()
	return decoder.Decode(form)
}

// readThemes reads all cases. Unknown members are an error, because a silently ignored one
// would make a case always pass.
func readThemes(folder string) ([]theme, error) {
	paths, err := filepath.Glob(filepath.Join(folder, "*.yaml"))
	if err != nil {
		return nil, err
	}
	if len(paths) == 0 {
		return nil, fmt.Errorf("no cases in %s: run this at the root of the repository, or say --root", folder)
	}
	var themes []theme
	for _, path := range paths {
		t, err := readTheme(path)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		themes = append(themes, t)
	}
	return themes, nil
}

func readTheme(path string) (t theme, err error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return t, err
	}
	if text, err = yaml.YAMLToJSON(text); err != nil {
		return t, err
	}
	if err := decodeStrict(text, &t); err != nil {
		return t, err
	}
	if t.Theme == "" || len(t.Cases) == 0 {
		return t, fmt.Errorf("the file must have a theme and cases")
	}
	for _, c := range t.Cases {
		if c.Name == "" || len(c.Steps) == 0 {
			return t, fmt.Errorf("the case must have a name and steps: %q", c.Name)
		}
		for i, written := range c.Steps {
			var filledLater *json.UnmarshalTypeError // a variable in place of a number
			if _, err := readStep(written); err != nil && !errors.As(err, &filledLater) {
				return t, fmt.Errorf("%q, step %d: %w", c.Name, i+1, err)
			}
			if err := checkRules(written); err != nil {
				return t, fmt.Errorf("%q, step %d: %w", c.Name, i+1, err)
			}
		}
	}
	return t, nil
}

// selectThemes returns the cases with the text in their theme or name.
func selectThemes(themes []theme, text string) []theme {
	var picked []theme
	for _, t := range themes {
		cases := t.Cases[:0:0]
		for _, c := range t.Cases {
			if strings.Contains(t.Theme+": "+c.Name, text) {
				cases = append(cases, c)
			}
		}
		if len(cases) > 0 {
			t.Cases = cases
			picked = append(picked, t)
		}
	}
	return picked
}
