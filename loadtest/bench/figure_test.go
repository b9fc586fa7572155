package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
)

func TestFiguresAreFoundByTheirNames(t *testing.T) {
	all := table{machine: []string{"Processor: one"}, rows: []row{
		{what: "a lead", figure: figureIngest.of(64), value: 24.5}, {what: "no figure", measured: "7"}, {what: "memory", figure: figureMemory, value: 257},
	}}
	path := filepath.Join(t.TempDir(), "figures.json")
	if err := all.figures().write(path); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		Machine []string
		Values  map[string]float64
	}
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatal(err)
	}
	if len(got.Values) != 2 || got.Values["ingest_us_64"] != 24.5 || got.Values["memory_bytes"] != 257 || got.Machine[0] != "Processor: one" {
		t.Errorf("%s", text)
	}
}
