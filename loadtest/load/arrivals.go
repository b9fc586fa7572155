package load

import (
	"math/rand/v2"
	"time"
)

// Arrivals returns the time from one arrival to the next.
type Arrivals func() time.Duration

// Even returns arrivals at even intervals.
func Even(rate float64) Arrivals {
	gap := time.Duration(float64(time.Second) / rate)
	return func() time.Duration { return gap }
}

// Poisson returns independent arrivals with this average rate a second. This models
// sellers that do not know of each other. A seed always gives the same arrivals.
func Poisson(rate float64, seed uint64) Arrivals {
	random := rand.New(rand.NewPCG(seed, 0))
	return func() time.Duration { return time.Duration(random.ExpFloat64() / rate * float64(time.Second)) }
}
