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

// theme is one file of cases.
type theme struct {
	Theme  string  `json:"theme"`
	Why    string  `json:"why"`    // what SDKs promise of it
	Shared any     `json:"shared"` // a place for what the cases repeat by aliases
	Cases  []story `json:"cases"`
}

// story is one case: steps that are taken one after the other, up to the first that
// does not come out as expected.
type story struct {
	Name    string           `json:"name"`
	Needs   string           `json:"needs"`   // a method or a feature; the case is passed over where the driver has it not
	Flavors bool             `json:"flavors"` // once for each flavor of a buyer's endpoint, as ${flavor}
	Each    []map[string]any `json:"each"`    // once for each of these sets of variables
	Steps   []map[string]any `json:"steps"`   // as they are written; see step
}

// step is one step of a case, with its variables filled in: exactly one of its kinds.
type step struct {
	Do       map[string]any   `json:"do"`       // a request to the driver
	Together []map[string]any `json:"together"` // several steps with do, or with raw, side by side
	Raw      *raw             `json:"raw"`      // a request by a plain HTTP client
	Fault    []*fault         `json:"fault"`    // what the proxy does to the next requests
	Gate     *gate            `json:"gate"`     // where the exchange finds one of the SDK's buyers
	Sent     *look            `json:"sent"`     // what has passed the proxy
	Passed   *look            `json:"passed"`   // what has passed a gate
	Hook     *hook            `json:"hook"`     // an event that the exchange has told the supplier
	Equal    [][2]any         `json:"equal"`    // pairs: what is in the first is in the second
	Wait     float64          `json:"wait_seconds"`

	At     string            `json:"at"`     // which proxy (live by default, sandbox), or which gate
	Expect any               `json:"expect"` // what comes of it; a result and no error where it is left out
	Save   map[string]string `json:"save"`   // names for later steps, each with a path in what came
}

// gate says where a gate leads, and what it does to the next requests.
type gate struct {
	To    string   `json:"to"`
	Fault []*fault `json:"fault"`
}

type hook struct {
	Type string `json:"type"`
	Lead string `json:"lead"`
}

// kinds is how many kinds of step this one claims to be.
func (s *step) kinds() (n int) {
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
	if err := strict(encode(written), &s); err != nil {
		return nil, err
	}
	if n := s.kinds(); n != 1 {
		return nil, fmt.Errorf("a step is of exactly one kind, this is of %d: %s", n, show(written))
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

// strict reads JSON into a form, keeps every digit, and refuses what the form does not name.
func strict(text []byte, form any) error {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	decoder.DisallowUnknownFields()
	return decoder.Decode(form)
}

// readThemes reads all cases. A file that says something nobody understands is an error:
// a case that is passed over silently would be one that always holds.
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
	if err := strict(text, &t); err != nil {
		return t, err
	}
	if t.Theme == "" || len(t.Cases) == 0 {
		return t, fmt.Errorf("a file has a theme and cases")
	}
	for _, c := range t.Cases {
		if c.Name == "" || len(c.Steps) == 0 {
			return t, fmt.Errorf("a case has a name and steps: %q", c.Name)
		}
		for i, written := range c.Steps {
			var filledLater *json.UnmarshalTypeError // a variable in a number's place
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

// pick are the cases whose theme or name has this text in it.
func pick(themes []theme, text string) []theme {
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
