package config

// overlaps reports active ping_post campaigns among which a seller's ping could
// not choose: the same vertical and sub_vertical, and a supplier in common.
func (c *compiler) overlaps(campaigns []Campaign) {
	type line struct{ vertical, sub string }
	type taken struct {
		all, first place // campaigns that take every supplier, and any at all
		by         map[string]place
	}
	lines := make(map[line]*taken)
	for i := range campaigns {
		form := &campaigns[i]
		if form.Method != "ping_post" || form.Paused || form.Vertical == "" {
			continue
		}
		here := place("campaigns").at(i)
		key := line{form.Vertical, form.SubVertical}
		t := lines[key]
		if t == nil {
			t = &taken{first: here, by: make(map[string]place)}
			lines[key] = t
		}
		other := t.all
		if len(form.Suppliers) == 0 && t.first != here {
			other = t.first
		}
		for _, supplier := range form.Suppliers {
			if earlier, ok := t.by[supplier]; ok && earlier != here && other == "" {
				other = earlier
			}
			t.by[supplier] = here
		}
		if len(form.Suppliers) == 0 {
			t.all = here
		}
		if other != "" {
			c.fail(here, "overlaps with "+string(other)+": both are ping_post, for the same vertical and sub_vertical, and share a supplier, so that a ping could not choose; tell them apart, or pause one")
		}
	}
}
