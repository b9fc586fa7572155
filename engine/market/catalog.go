package market

// Catalog is everything an operator has configured, checked and compiled. It
// is immutable once published and swapped whole, so a request that began under
// one catalog ends under it.
//
// Not in it, because no configuration may take them back: credentials and
// secrets, balances, pauses, and the contents of suppression lists.
type Catalog struct {
	Version   uint32 // counts the catalogs that were applied, from 1
	Suppliers map[SupplierID]*Supplier
	Buyers    map[BuyerID]*Buyer
	Campaigns map[CampaignID]*Campaign
	Lists     map[ListID]*List
}
