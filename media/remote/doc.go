// Package remote fetches pictures and documents of the web, when the settings allow it and only from where they allow it.
//
// An address is checked at every hop: its scheme, its host against the lists of the policy, and the IP address that is
// dialled in the end, after name resolution, so that no name and no redirect leads into a private network. Proxies,
// cookies and credentials are not used. What comes back is bounded in bytes and time, and a picture has to be
// one by its bytes; nothing is decoded here. The package keeps no state and writes nothing.
package remote
