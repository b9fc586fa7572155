package event

import (
	"pingpost/engine/market"
)

// Founded is the first event of a log and identifies the exchange. KeyCheck reveals at a start
// that the configured key is that of another exchange. Hashes in the log need the right key.
type Founded struct {
	Epoch    [16]byte // random; a restored copy gets a new one
	KeyCheck [16]byte
	At       int64
}

func (*Founded) Kind() Kind { return KindFounded }
func (f *Founded) reset()   { *f = Founded{} }

func (f *Founded) encodeOrDecode(pb *protobufCodec) {
	idField(pb, 1, &f.Epoch)
	idField(pb, 2, &f.KeyCheck)
	fixed64Field(pb, 3, &f.At)
}

// ObjectKind is the type of a configured object: supplier, buyer, campaign or suppression list.
// Names are numbered separately for each type.
type ObjectKind uint8

const (
	ObjectSupplier ObjectKind = 1
	ObjectBuyer    ObjectKind = 2
	ObjectCampaign ObjectKind = 3
	ObjectList     ObjectKind = 4
)

// NumberedName gives the configured name ID its permanent number Ref. Each kind counts from 1.
type NumberedName struct {
	Kind ObjectKind
	Ref  market.Ref
	ID   string
}

// NumberedCap gives the cap that Key identifies its permanent number Ref.
type NumberedCap struct {
	Ref market.Ref
	Key market.CapKey
}

// CatalogSet activates a configuration. It names the configuration's file by its hash; the file
// is beside the log, never changes and holds no secrets. The event does not hold the
// configuration, because ten thousand campaigns are too large for a log record.
type CatalogSet struct {
	Version  uint32
	Document string // hex SHA-256 of the file
	By       string // the operator; empty: the exchange itself, at a start or a reload
	Overlay  string // hex SHA-256 of the file with the entries made through the API; empty: none
	From     ConfigOrigin
}

// ConfigOrigin is where a configuration came from: the file or the admin API.
type ConfigOrigin uint8

const (
	FromFile     ConfigOrigin = 1 // the configuration file, at a start or a reload
	FromAPI      ConfigOrigin = 2 // one entry that an operator created, changed or removed
	FromDocument ConfigOrigin = 3 // a whole document from an operator
)

var configOriginNames = [...]string{FromFile: "file", FromAPI: "api", FromDocument: "document"}

// String returns the origin's name. It is empty in events that earlier programs wrote without an
// origin.
func (o ConfigOrigin) String() string { return market.EnumName(configOriginNames[:], int(o), "") }

func (*CatalogSet) Kind() Kind { return KindCatalogSet }
func (c *CatalogSet) reset()   { *c = CatalogSet{} }

func (c *CatalogSet) encodeOrDecode(pb *protobufCodec) {
	uint32Field(pb, 1, &c.Version)
	stringField(pb, 2, &c.Document)
	stringField(pb, 3, &c.By)
	stringField(pb, 4, &c.Overlay)
	enumField(pb, 5, &c.From)
}

// NamesNumbered gives new names and caps of a configuration their numbers. It is logged before
// the CatalogSet event of that configuration. If that event does not follow, the numbers do no
// harm.
type NamesNumbered struct {
	Names []NumberedName
	Caps  []NumberedCap
}

func (*NamesNumbered) Kind() Kind { return KindNamesGiven }
func (c *NamesNumbered) reset()   { *c = NamesNumbered{Names: c.Names[:0], Caps: c.Caps[:0]} }

func (c *NamesNumbered) encodeOrDecode(pb *protobufCodec) {
	messageListField(pb, 1, &c.Names)
	messageListField(pb, 2, &c.Caps)
}

func (n *NumberedName) encodeOrDecode(pb *protobufCodec) {
	enumField(pb, 1, &n.Kind)
	uint32Field(pb, 2, &n.Ref)
	stringField(pb, 3, &n.ID)
}

func (n *NumberedCap) encodeOrDecode(pb *protobufCodec) {
	uint32Field(pb, 1, &n.Ref)
	enumField(pb, 2, &n.Key.Scope)
	uint32Field(pb, 3, &n.Key.Campaign)
	uint32Field(pb, 4, &n.Key.Buyer)
	enumField(pb, 5, &n.Key.Unit)
	enumField(pb, 6, &n.Key.Period)
	stringField(pb, 7, &n.Key.Zone)
}
