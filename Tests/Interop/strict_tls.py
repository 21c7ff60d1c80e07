"""Fetches addresses with the checks of certificates that Python 3.13 makes by default: strict_tls.py AUTHORITIES URL…

AUTHORITIES is a file with every authority that is trusted. Ends with an error if a certificate is refused.
"""

import ssl
import sys
import urllib.request

context = ssl.create_default_context(cafile=sys.argv[1])
# `create_default_context` sets these flags since Python 3.13.
context.verify_flags |= ssl.VERIFY_X509_STRICT | ssl.VERIFY_X509_PARTIAL_CHAIN
for url in sys.argv[2:]:
    with urllib.request.urlopen(url, context=context, timeout=60) as answer:
        print(answer.status)
