package main

import (
	"errors"
	"fmt"
	"regexp"

	"github.com/goccy/go-yaml"
)

// errorCodes is the content of errors.yaml.
type errorCodes struct {
	Errors []errorCode `yaml:"errors"`
	Fields []fieldCode `yaml:"fields"`
}

// errorCode is the code of an error answer.
type errorCode struct {
	Code   string `yaml:"code"`
	Status int    `yaml:"status"`
	Retry  bool   `yaml:"retry"`
	Where  string `yaml:"where"`
	When   string `yaml:"when"`
	Do     string `yaml:"do"`
}

// fieldCode is the code of a fault in one member of a request.
type fieldCode struct {
	Code string `yaml:"code"`
	When string `yaml:"when"`
}

var codeForm = regexp.MustCompile(`^[a-z]+(_[a-z]+)*$`)

// parseErrorCodes reads and checks errors.yaml. The error lists all findings.
func parseErrorCodes(text []byte) (*errorCodes, error) {
	var c errorCodes
	if err := yaml.UnmarshalWithOptions(text, &c, yaml.Strict()); err != nil {
		return nil, err
	}
	var wrong []error
	seen := map[string]bool{}
	check := func(code, when string) {
		switch {
		case !codeForm.MatchString(code):
			wrong = append(wrong, fmt.Errorf("code %q is invalid: use small letters and _", code))
		case seen[code]:
			wrong = append(wrong, fmt.Errorf("code %s occurs twice", code))
		case when == "":
			wrong = append(wrong, fmt.Errorf("code %s: when is missing", code))
		}
		seen[code] = true
	}
	for _, f := range c.Errors {
		check(f.Code, f.When)
		wrong = append(wrong, f.check()...)
	}
	for _, f := range c.Fields {
		check(f.Code, f.When)
	}
	if len(c.Errors) == 0 || len(c.Fields) == 0 {
		wrong = append(wrong, errors.New("errors and fields must each have at least one code"))
	}
	return &c, errors.Join(wrong...)
}

// check returns the faults of an entry, except in its code.
func (f *errorCode) check() (wrong []error) {
	if f.Status < 400 || f.Status > 599 {
		wrong = append(wrong, fmt.Errorf("code %s: status %d is not an error status", f.Code, f.Status))
	}
	if f.Where != "public" && f.Where != "admin" && f.Where != "both" {
		wrong = append(wrong, fmt.Errorf("code %s: where is %q; use public, admin or both", f.Code, f.Where))
	}
	if f.Do == "" {
		wrong = append(wrong, fmt.Errorf("code %s: do is missing", f.Code))
	}
	// Clients may retry 5xx and 429 only, but not 505: the same request would always fail.
	if may := f.Status == 429 || f.Status >= 500 && f.Status != 505; f.Retry != may {
		wrong = append(wrong, fmt.Errorf("code %s: with status %d retry must be %t", f.Code, f.Status, may))
	}
	return wrong
}
