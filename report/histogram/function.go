package histogram

import (
	"database/sql/driver"
	"sync"

	"modernc.org/sqlite"
)

// The SQLite functions for histograms: AddFunction adds two, SumFunction adds up a group.
const (
	AddFunction = "add_times"
	SumFunction = "sum_times"
)

// Register makes the functions available to every SQLite connection that is opened later.
var Register = sync.OnceValue(func() error {
	err := sqlite.RegisterFunction(AddFunction, &sqlite.FunctionImpl{NArgs: 2, Deterministic: true, VolatileArgs: true, Scalar: func(_ *sqlite.FunctionContext, args []driver.Value) (driver.Value, error) {
		var sum histogramAccumulator
		for _, arg := range args {
			if err := sum.addBlob(arg); err != nil {
				return nil, err
			}
		}
		return sum.Histogram().AppendEncodedTo(nil), nil
	}})
	if err != nil {
		return err
	}
	return sqlite.RegisterFunction(SumFunction, &sqlite.FunctionImpl{NArgs: 1, Deterministic: true, VolatileArgs: true, MakeAggregate: func(sqlite.FunctionContext) (sqlite.AggregateFunction, error) {
		return new(histogramAccumulator), nil
	}})
})

func (s *histogramAccumulator) addBlob(arg driver.Value) error {
	blob, ok := arg.([]byte)
	if !ok {
		return errInvalid
	}
	return s.add(blob)
}

// Step adds one stored histogram (a blob). SQLite calls it for each row of the aggregate
// function.
func (s *histogramAccumulator) Step(_ *sqlite.FunctionContext, args []driver.Value) error {
	return s.addBlob(args[0])
}

// WindowInverse always fails, because SQLite must not use the function in window queries.
func (*histogramAccumulator) WindowInverse(*sqlite.FunctionContext, []driver.Value) error {
	return errInvalid
}

// WindowValue returns the sum of the added histograms as a blob.
func (s *histogramAccumulator) WindowValue(*sqlite.FunctionContext) (driver.Value, error) {
	return s.Histogram().AppendEncodedTo(nil), nil
}

// Final does nothing. SQLite calls it at the end, when there is no resource to release.
func (*histogramAccumulator) Final(*sqlite.FunctionContext) {}
