import Hummingbird
import HummingbirdTLS
import Yams
import Configuration
