package main

import (
	"errors"
	"fmt"
	"regexp"

	"github.com/goccy/go-yaml"
)

// codes is errors.yaml.
type codes struct {
	Errors []failure `yaml:"errors"`
	Fields []field   `yaml:"fields"`
}

// failure is a code that an answer as a whole can have.
type failure struct {
	Code   string `yaml:"code"`
	Status int    `yaml:"status"`
	Retry  bool   `yaml:"retry"`
	Where  string `yaml:"where"`
	When   string `yaml:"when"`
	Do     string `yaml:"do"`
}

// field is a code that is about one member of a request.
type field struct {
	Code string `yaml:"code"`
	When string `yaml:"when"`
}

var codeForm = regexp.MustCompile(`^[a-z]+(_[a-z]+)*$`)

// parse reads errors.yaml and judges it: all that is wrong is told at once.
func parse(text []byte) (*codes, error) {
	var c codes
	if err := yaml.UnmarshalWithOptions(text, &c, yaml.Strict()); err != nil {
		return nil, err
	}
	var wrong []error
	seen := map[string]bool{}
	check := func(code, when string) {
		switch {
		case !codeForm.MatchString(code):
			wrong = append(wrong, fmt.Errorf("%q is no code: use small letters with _ between", code))
		case seen[code]:
			wrong = append(wrong, fmt.Errorf("%s is there twice", code))
		case when == "":
			wrong = append(wrong, fmt.Errorf("%s: say when", code))
		}
		seen[code] = true
	}
	for _, f := range c.Errors {
		check(f.Code, f.When)
		wrong = append(wrong, f.judge()...)
	}
	for _, f := range c.Fields {
		check(f.Code, f.When)
	}
	if len(c.Errors) == 0 || len(c.Fields) == 0 {
		wrong = append(wrong, errors.New("errors and fields must have some codes each"))
	}
	return &c, errors.Join(wrong...)
}

// judge says what is wrong with an entry beside its code.
func (f *failure) judge() (wrong []error) {
	if f.Status < 400 || f.Status > 599 {
		wrong = append(wrong, fmt.Errorf("%s: %d is no status of an error", f.Code, f.Status))
	}
	if f.Where != "public" && f.Where != "admin" && f.Where != "both" {
		wrong = append(wrong, fmt.Errorf("%s: where is %q; use public, admin or both", f.Code, f.Where))
	}
	if f.Do == "" {
		wrong = append(wrong, fmt.Errorf("%s: say what to do", f.Code))
	}
	// The interface's rule: 5xx and 429, and nothing else. In another version of HTTP
	// the same request fails for ever.
	if may := f.Status == 429 || f.Status >= 500 && f.Status != 505; f.Retry != may {
		wrong = append(wrong, fmt.Errorf("%s: with status %d retry is %t", f.Code, f.Status, may))
	}
	return wrong
}
