package redisstore

// busTags are the hash tags of the partitions in a cluster. Their slots are 512, 1536, … 15872, so nodes with equal
// ranges of slots have equal numbers of partitions. The number of partitions never changes: all instances must agree on
// it.
var busTags = [...]string{
	"ms3", "mws", "pt6", "arf", "mb1", "eoi", "pe4", "acd", "gxm", "ou5", "c0h", "ky8", "gio", "od7", "ceb", "rc2",
}
