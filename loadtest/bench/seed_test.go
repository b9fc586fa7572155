package main

import (
	"strings"
	"testing"
)

func TestTheSandboxOfTheBenchIsOne(t *testing.T) {
	built := compiled(t, catalogOf(3).sandboxed())
	if !built.Settings.Sandbox || len(built.Initial.Credentials) != 2 {
		t.Errorf("sandbox %v, %d credentials", built.Settings.Sandbox, len(built.Initial.Credentials))
	}
}

func TestTheRowOfTheSeed(t *testing.T) {
	for _, test := range []struct {
		each series
		want verdict
	}{{series{9, 11, 10}, met}, {series{50}, met}, {series{49, 51, 52}, missed}} {
		r := seedRow(test.each)
		if r.verdict != test.want || !strings.Contains(r.what, "1000 leads") {
			t.Errorf("%v: %+v", test.each, r)
		}
	}
}
