package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/perf/benchfmt"
)

// sideNames are the two sides, in the order in which they run.
var sideNames = [2]string{"base", "head"}

// figure is one thing that is measured: a benchmark's unit.
type figure struct{ pkg, name, unit string }

// samples are what each side's runs came to, in memory and in a file that
// benchstat reads.
type samples struct {
	files  [2]*os.File
	values [2]map[figure][]float64
	order  []figure // as they came first
}

func newSamples(dir string) (*samples, error) {
	s := &samples{}
	for side, name := range sideNames {
		file, err := os.Create(filepath.Join(dir, name+".txt"))
		if err != nil {
			return nil, errors.Join(err, s.close())
		}
		s.files[side], s.values[side] = file, map[figure][]float64{}
	}
	return s, nil
}

func (s *samples) close() (err error) {
	for _, file := range s.files {
		if file != nil {
			err = errors.Join(err, file.Close())
		}
	}
	return err
}

// add takes a side's output of some benchmarks of a package.
func (s *samples) add(side int, pkg string, text []byte) error {
	if _, err := fmt.Fprintf(s.files[side], "pkg: %s\n%s\n", pkg, text); err != nil {
		return err
	}
	reader := benchfmt.NewReader(bytes.NewReader(text), pkg)
	for reader.Scan() {
		switch r := reader.Result().(type) {
		case *benchfmt.Result:
			for _, v := range r.Values {
				f := figure{pkg: pkg, name: r.Name.String(), unit: v.Unit}
				if len(s.values[0][f])+len(s.values[1][f]) == 0 {
					s.order = append(s.order, f)
				}
				s.values[side][f] = append(s.values[side][f], v.Value)
			}
		case *benchfmt.SyntaxError:
			return fmt.Errorf("the benchmarks of %s print what is none: %w", pkg, r)
		}
	}
	return reader.Err()
}
