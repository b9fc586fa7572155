package load

import (
	"math/rand/v2"
	"time"
)

// Arrivals gives the time from one arrival to the next.
type Arrivals func() time.Duration

// Every is so many arrivals a second, as even as a clock's ticks.
func Every(rate float64) Arrivals {
	gap := time.Duration(float64(time.Second) / rate)
	return func() time.Duration { return gap }
}

// Poisson is so many arrivals a second on average, each independent of all
// others, as sellers that know nothing of each other send them. A seed always
// gives the same ones.
func Poisson(rate float64, seed uint64) Arrivals {
	chance := rand.New(rand.NewPCG(seed, 0))
	return func() time.Duration { return time.Duration(chance.ExpFloat64() / rate * float64(time.Second)) }
}
