package route

import (
	"encoding/binary"
	"hash/fnv"
	"math/bits"

	"pingpost/engine/market"
)

// Lineup is a campaign's seats with all that can be known before a lead comes:
// which seats a state leaves, which a filter leaves, which caps a sale to each
// would charge. A decision then costs a few words of bit arithmetic for every
// 64 seats instead of a look at each, so a thousand buyers in a campaign cost a
// lead little more than one.
//
// Immutable and shared by all requests.
type Lineup struct {
	Campaign *market.Campaign
	Weights  []int32         // by seat
	Caps     [][]*market.Cap // by seat: the campaign's, the buyer's, the pair's, in that order

	key     uint64 // names the buyers, their order and their weights
	all     market.Bits
	byState []market.Bits // by State; NoState's has the seats that take any state
	filters *market.FilterIndex
	lists   []listSeats
}

// listSeats are the seats whose buyers do not want what is on a list.
type listSeats struct {
	list  *market.List
	seats market.Bits
}

// Compile prepares a campaign's seats.
func Compile(c *market.Campaign) *Lineup {
	n := len(c.Lineup)
	l := &Lineup{
		Campaign: c, Weights: make([]int32, n), Caps: make([][]*market.Cap, n),
		all: market.NewBits(n),
	}
	l.all.Fill(n)
	filters := make([][]market.Filter, n)
	for i := range c.Lineup {
		seat := &c.Lineup[i]
		filters[i] = seat.Filters
		l.Weights[i] = 1
		if c.Method == market.Weighted {
			l.Weights[i] = int32(seat.Weight)
		}
		l.Caps[i] = append(append(append([]*market.Cap(nil), c.Caps...), seat.Buyer.Caps...), seat.Caps...)
		for _, list := range seat.Buyer.Suppression {
			l.seatsOf(list).Set(i)
		}
	}
	l.filters = market.NewFilterIndex(filters)
	l.byState = statesOf(c)
	l.key = l.name()
	return l
}

func (l *Lineup) seatsOf(list *market.List) market.Bits {
	for _, known := range l.lists {
		if known.list == list {
			return known.seats
		}
	}
	seats := market.NewBits(len(l.Campaign.Lineup))
	l.lists = append(l.lists, listSeats{list, seats})
	return seats
}

// statesOf lists, by state, the seats that take a lead from there. A lead
// without a state is taken by those that take all states.
func statesOf(c *market.Campaign) []market.Bits {
	byState := make([]market.Bits, bits.Len64(uint64(market.AllStates)))
	for state := range byState {
		byState[state] = market.NewBits(len(c.Lineup))
		for i := range c.Lineup {
			states := c.Lineup[i].States
			if states == market.AllStates || (state > 0 && states.Has(market.State(state))) {
				byState[state].Set(i)
			}
		}
	}
	return byState
}

// name is the same for lineups that give turns alike.
func (l *Lineup) name() uint64 {
	h := fnv.New64a()
	var word [8]byte
	for i := range l.Campaign.Lineup {
		_, _ = h.Write([]byte(l.Campaign.Lineup[i].Buyer.ID))
		binary.LittleEndian.PutUint64(word[:], uint64(l.Weights[i]))
		_, _ = h.Write(word[:])
	}
	return h.Sum64()
}

// Set names the seats among which a turn is taken; never zero.
func (l *Lineup) Set(seats market.Bits) uint64 {
	name := l.key
	for _, word := range seats {
		name ^= word
		for range 2 { // one round leaves a change of a high bit where the next word can undo it
			name = (name ^ name>>32) * 0xd6e8feb86659fd93
		}
		name ^= name >> 32
	}
	return name | 1
}

// Seats is how many seats the lineup has.
func (l *Lineup) Seats() int { return len(l.Campaign.Lineup) }
