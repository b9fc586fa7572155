package state

import (
	"pingpost/engine/event"
	"pingpost/engine/market"
)

func writeSale(w *writer, p *Post) {
	sale := &p.Sale
	w.uint(uint64(sale.Buyer))
	w.uint(uint64(sale.Seat))
	w.int(int64(sale.Price))
	w.int(int64(sale.Payout))
	w.raw(sale.Currency[:])
	w.uint(uint64(len(sale.Charges)))
	for _, charge := range sale.Charges {
		w.uint(uint64(charge.Cap))
		w.int(charge.Window)
		w.int(charge.Amount)
	}
	w.fixed(sale.Turn.Set)
	w.uint(uint64(sale.Turn.Phase))
	w.uint(uint64(sale.Turn.Member))
	w.uint(uint64(len(sale.Dups)))
	for i := range sale.Dups {
		w.raw(sale.Dups[i].Key[:])
		w.int(sale.Dups[i].Until)
	}
	w.raw(sale.Ping[:])
	w.bool(sale.Test)
}

func readSale(r *reader, p *Post) {
	sale := &p.Sale
	sale.Buyer, sale.Seat = market.Ref(r.uint()), uint32(r.uint())
	sale.Price, sale.Payout = market.Money(r.int()), market.Money(r.int())
	copy(sale.Currency[:], r.raw(3))
	for range r.count() {
		sale.Charges = append(sale.Charges, event.Charge{Cap: market.Ref(r.uint()), Window: r.int(), Amount: r.int()})
	}
	sale.Turn = event.Turn{Set: r.fixed(), Phase: uint32(r.uint()), Member: uint32(r.uint())}
	for range r.count() {
		var dup event.Dup
		copy(dup.Key[:], r.raw(16))
		dup.Until = r.int()
		sale.Dups = append(sale.Dups, dup)
	}
	copy(sale.Ping[:], r.raw(16))
	sale.Test = r.bool()
}
