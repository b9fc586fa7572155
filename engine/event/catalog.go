package event

import (
	"pingpost/engine/market"
)

// ExchangeFounded is the first event of a log and identifies the exchange. At a start the engine
// compares KeyCheck with the exchange's key file, and rejects the key of another exchange: the hashes
// in the log need the right key.
type ExchangeFounded struct {
	Epoch    [16]byte // random; identifies the exchange, also after a restore from a backup
	KeyCheck [16]byte
	At       int64
}

func (*ExchangeFounded) Kind() Kind { return KindExchangeFounded }
func (f *ExchangeFounded) reset()   { *f = ExchangeFounded{} }

func (f *ExchangeFounded) encodeOrDecode(pb *protobufCodec) {
	encodeOrDecodeID16(pb, 1, &f.Epoch)
	encodeOrDecodeID16(pb, 2, &f.KeyCheck)
	encodeOrDecodeFixed64(pb, 3, &f.At)
}

// ConfigObjectKind is the type of a configured object: supplier, buyer, campaign or suppression list.
// Names are numbered separately for each type.
type ConfigObjectKind uint8

const (
	ObjectSupplier ConfigObjectKind = 1
	ObjectBuyer    ConfigObjectKind = 2
	ObjectCampaign ConfigObjectKind = 3
	ObjectList     ConfigObjectKind = 4
)

// NameNumberAssignment gives the configured name ID its permanent number Ref. Each kind counts from 1.
type NameNumberAssignment struct {
	Kind ConfigObjectKind
	Ref  market.PermanentNumber
	ID   string
}

// CapNumberAssignment records that the cap with the key Key gets the permanent number Ref.
type CapNumberAssignment struct {
	Ref market.PermanentNumber
	Key market.CapKey
}

// ConfigActivated activates a configuration. It names the configuration's file by its hash; the file
// is beside the log, never changes and holds no secrets. The event does not hold the
// configuration, because ten thousand campaigns are too large for a log record.
type ConfigActivated struct {
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

func (*ConfigActivated) Kind() Kind { return KindConfigActivated }
func (c *ConfigActivated) reset()   { *c = ConfigActivated{} }

func (c *ConfigActivated) encodeOrDecode(pb *protobufCodec) {
	encodeOrDecodeUint32(pb, 1, &c.Version)
	encodeOrDecodeString(pb, 2, &c.Document)
	encodeOrDecodeString(pb, 3, &c.By)
	encodeOrDecodeString(pb, 4, &c.Overlay)
	encodeOrDecodeEnum(pb, 5, &c.From)
}

// ConfigObjectNumbersAssigned gives new names and caps of a configuration their numbers. It is logged before
// the ConfigActivated event of that configuration. If that event does not follow, the numbers do no
// harm.
type ConfigObjectNumbersAssigned struct {
	Names []NameNumberAssignment
	Caps  []CapNumberAssignment
}

func (*ConfigObjectNumbersAssigned) Kind() Kind { return KindConfigObjectNumbersAssigned }
func (c *ConfigObjectNumbersAssigned) reset() {
	*c = ConfigObjectNumbersAssigned{Names: c.Names[:0], Caps: c.Caps[:0]}
}

func (c *ConfigObjectNumbersAssigned) encodeOrDecode(pb *protobufCodec) {
	encodeOrDecodeMessageList(pb, 1, &c.Names)
	encodeOrDecodeMessageList(pb, 2, &c.Caps)
}

func (n *NameNumberAssignment) encodeOrDecode(pb *protobufCodec) {
	encodeOrDecodeEnum(pb, 1, &n.Kind)
	encodeOrDecodeUint32(pb, 2, &n.Ref)
	encodeOrDecodeString(pb, 3, &n.ID)
}

func (n *CapNumberAssignment) encodeOrDecode(pb *protobufCodec) {
	encodeOrDecodeUint32(pb, 1, &n.Ref)
	encodeOrDecodeEnum(pb, 2, &n.Key.Scope)
	encodeOrDecodeUint32(pb, 3, &n.Key.Campaign)
	encodeOrDecodeUint32(pb, 4, &n.Key.Buyer)
	encodeOrDecodeEnum(pb, 5, &n.Key.Unit)
	encodeOrDecodeEnum(pb, 6, &n.Key.Period)
	encodeOrDecodeString(pb, 7, &n.Key.Zone)
	encodeOrDecodeString(pb, 8, &n.Key.Terms)
}
