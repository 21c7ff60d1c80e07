"""The formats of Xcode's project files and schemes, for scripts/xcode-project."""
import hashlib
import re
from xml.sax.saxutils import quoteattr

# A newer Xcode does not offer to upgrade the settings of a project that this version has checked.
XCODE = "2600"


def identifier(*names):
    """Returns the identifier of what the names describe: 24 hexadecimal digits, which are always the same."""
    return hashlib.sha256("/".join(names).encode()).hexdigest()[:24].upper()


class Raw(str):
    """A reference to an object, written with a comment that names the object."""


class Objects:
    """The objects of a project, by kind and identifier."""

    def __init__(self):
        self.sections = {}

    def add(self, isa, comment, *names, **values):
        """Adds an object. The names make its identifier. Returns a reference to it."""
        key = identifier(isa, *names)
        section = self.sections.setdefault(isa, {})
        assert key not in section, names
        section[key] = (comment, {"isa": isa, **values})
        return Raw(f"{key} /* {comment} */" if comment else key)


def quoted(value):
    """Returns a string with quotation marks where the format needs them."""
    if isinstance(value, Raw):
        return value
    text = str(value)
    if re.fullmatch(r"[\w./]+", text, re.ASCII) and "//" not in text and "___" not in text:
        return text
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'


def written(value, depth, inline=False):
    """Returns a value in the format of OpenStep property lists, as Xcode indents it."""
    end, step = ("", "") if inline else ("\n", "\t" * (depth + 1))
    space = " " if inline else ""
    if isinstance(value, dict):
        lines = "".join(f"{step}{quoted(key)} = {written(item, depth + 1, inline)};{end or ' '}" for key, item in value.items())
        return "{" + end + lines + ("" if inline else "\t" * depth) + "}"
    if isinstance(value, (list, tuple)):
        lines = "".join(f"{step}{written(item, depth + 1, inline)},{end or space}" for item in value)
        return "(" + end + lines + ("" if inline else "\t" * depth) + ")"
    return quoted(value)


def project_text(objects, root):
    """Returns the text of project.pbxproj with these objects."""
    text = "// !$*UTF8*$!\n{\n\tarchiveVersion = 1;\n\tclasses = {\n\t};\n\tobjectVersion = 60;\n\tobjects = {\n"
    for isa in sorted(objects.sections):
        text += f"\n/* Begin {isa} section */\n"
        for key, (comment, values) in sorted(objects.sections[isa].items()):
            inline = isa in ("PBXBuildFile", "PBXFileReference")
            label = f" /* {comment} */" if comment else ""
            text += f"\t\t{key}{label} = {written(values, 2, inline)};\n"
        text += f"/* End {isa} section */\n"
    return text + f"\t}};\n\trootObject = {root};\n}}\n"


def scheme(name, target, project):
    """Returns the text of a scheme that builds and runs an app.

    `target` is the identifier of the app's target, and `project` the name of the project's folder.
    """
    attributes = {
        "BuildableIdentifier": "primary", "BlueprintIdentifier": target, "BuildableName": f"{name}.app", "BlueprintName": name,
        "ReferencedContainer": f"container:{project}",
    }

    def reference(depth):
        pad = "   " * depth
        lines = "".join(f"\n{pad}   {name} = {quoteattr(value)}" for name, value in attributes.items())
        return f"{pad}<BuildableReference{lines}>\n{pad}</BuildableReference>"

    def runnable(depth):
        pad = "   " * depth
        start = f'{pad}<BuildableProductRunnable\n{pad}   runnableDebuggingMode = "0">'
        return f"{start}\n{reference(depth + 1)}\n{pad}</BuildableProductRunnable>"

    lldb = "Xcode.DebuggerFoundation.Debugger.LLDB"
    launcher = "Xcode.DebuggerFoundation.Launcher.LLDB"
    return f"""<?xml version="1.0" encoding="UTF-8"?>
<Scheme
   LastUpgradeVersion = "{XCODE}"
   version = "1.7">
   <BuildAction
      parallelizeBuildables = "YES"
      buildImplicitDependencies = "YES">
      <BuildActionEntries>
         <BuildActionEntry
            buildForTesting = "YES"
            buildForRunning = "YES"
            buildForProfiling = "YES"
            buildForArchiving = "YES"
            buildForAnalyzing = "YES">
{reference(4)}
         </BuildActionEntry>
      </BuildActionEntries>
   </BuildAction>
   <TestAction
      buildConfiguration = "Debug"
      selectedDebuggerIdentifier = "{lldb}"
      selectedLauncherIdentifier = "{launcher}"
      shouldUseLaunchSchemeArgsEnv = "YES">
   </TestAction>
   <LaunchAction
      buildConfiguration = "Debug"
      selectedDebuggerIdentifier = "{lldb}"
      selectedLauncherIdentifier = "{launcher}"
      launchStyle = "0"
      useCustomWorkingDirectory = "NO"
      ignoresPersistentStateOnLaunch = "NO"
      debugDocumentVersioning = "YES"
      debugServiceExtension = "internal"
      allowLocationSimulation = "YES">
{runnable(2)}
   </LaunchAction>
   <ProfileAction
      buildConfiguration = "Release"
      shouldUseLaunchSchemeArgsEnv = "YES"
      savedToolIdentifier = ""
      useCustomWorkingDirectory = "NO"
      debugDocumentVersioning = "YES">
{runnable(2)}
   </ProfileAction>
   <AnalyzeAction
      buildConfiguration = "Debug">
   </AnalyzeAction>
   <ArchiveAction
      buildConfiguration = "Release"
      revealArchiveInOrganizer = "YES">
   </ArchiveAction>
</Scheme>
"""


WORKSPACE = """<?xml version="1.0" encoding="UTF-8"?>
<Workspace
   version = "1.0">
   <FileRef
      location = "self:">
   </FileRef>
</Workspace>
"""
