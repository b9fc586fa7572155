package report

import (
	"database/sql/driver"
	"sync"

	"modernc.org/sqlite"
)

// What SQLite is taught to do with histograms: to put two together, and to add up many.
const (
	addTimes = "add_times"
	sumTimes = "sum_times"
)

// teach has every connection that is opened after it know them.
var teach = sync.OnceValue(func() error {
	err := sqlite.RegisterFunction(addTimes, &sqlite.FunctionImpl{NArgs: 2, Deterministic: true, VolatileArgs: true, Scalar: func(_ *sqlite.FunctionContext, args []driver.Value) (driver.Value, error) {
		var sum slotSums
		for _, arg := range args {
			if err := sum.take(arg); err != nil {
				return nil, err
			}
		}
		return sum.histogram().appendTo(nil), nil
	}})
	if err != nil {
		return err
	}
	return sqlite.RegisterFunction(sumTimes, &sqlite.FunctionImpl{NArgs: 1, Deterministic: true, VolatileArgs: true, MakeAggregate: func(sqlite.FunctionContext) (sqlite.AggregateFunction, error) {
		return new(slotSums), nil
	}})
})

func (s *slotSums) take(arg driver.Value) error {
	blob, ok := arg.([]byte)
	if !ok {
		return errNoTimes
	}
	return s.add(blob)
}

// Step adds one.
func (s *slotSums) Step(_ *sqlite.FunctionContext, args []driver.Value) error { return s.take(args[0]) }

// WindowInverse is of windows, for which it is not.
func (*slotSums) WindowInverse(*sqlite.FunctionContext, []driver.Value) error { return errNoTimes }

// WindowValue is the sum.
func (s *slotSums) WindowValue(*sqlite.FunctionContext) (driver.Value, error) {
	return s.histogram().appendTo(nil), nil
}

// Final ends it.
func (*slotSums) Final(*sqlite.FunctionContext) {}
