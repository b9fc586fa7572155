package state

func (a *AuctionRow) write(w *writer) {
	w.raw(a.Name[:])
	w.raw(a.Lead[:])
	w.uint(a.Seq)
	w.uint(uint64(a.Keep))
}

func (a *AuctionRow) read(r *reader) {
	copy(a.Name[:], r.raw(16))
	copy(a.Lead[:], r.raw(16))
	a.Seq, a.Keep = r.uint(), uint32(r.uint())
}
